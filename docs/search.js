/* Scores of search results, those of Sphinx; and an entry of the index is shown with the heading or term that has it. */
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: (result) => {
    const [page, title, anchor, , score, , kind] = result;
    const place = kind === "index" ? Scorer.place(page, anchor) : "";
    if (place && place !== title) result[1] = `${title} > ${place}`;
    return score;
  },
  place: (page, anchor) => {
    if (anchor.startsWith("#term-")) return anchor.slice("#term-".length).replaceAll("-", " ");
    const { alltitles, docnames } = Search._index;
    const isHere = ([file, id]) => docnames[file] === page && `#${id}` === anchor;
    return Object.keys(alltitles).find((heading) => alltitles[heading].some(isHere));
  },
};
