/* Buttons that copy code, and boxes that scroll by the keyboard, too. */
"use strict";

const CODE = ["python", "sh", "console", "pycon", "toml", "json"].map((language) => `.highlight-${language} pre`);
const BOXES = "article pre, article .table-wrapper";
const PROMPT = /^(?:\$|>>>|\.\.\.)(?: |$)/;

/* What is typed: of what begins with a prompt, the lines that have one, without it, and no output. */
function typed(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const said = PROMPT.test(lines[0]) ? lines.filter((line) => PROMPT.test(line)) : lines;
  return said.map((line) => (said === lines ? line : line.replace(PROMPT, ""))).join("\n") + "\n";
}

/* A page that is opened as a file, or over plain HTTP, may have no clipboard of its own. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "out-of-sight";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function addButton(block, said) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const done = await copy(typed(block.textContent));
    button.focus();
    button.textContent = said.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => {
      button.textContent = "Copy";
      said.textContent = "";
    }, 2000);
  });
  block.after(button);
}

/* On a phone a picture is small: a tap shows it by itself. */
function link(picture) {
  const whole = document.createElement("a");
  whole.href = picture.src;
  picture.replaceWith(whole);
  whole.append(picture);
}

function letKeysScroll() {
  for (const box of document.querySelectorAll(BOXES)) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

window.addEventListener("DOMContentLoaded", () => {
  const said = document.createElement("div");
  said.setAttribute("role", "status");
  said.className = "out-of-sight";
  document.querySelector("article").append(said);
  for (const block of document.querySelectorAll(CODE.join())) addButton(block, said);
  document.querySelectorAll("article img:not(a img)").forEach(link);
  letKeysScroll();
});
window.addEventListener("load", letKeysScroll);
window.addEventListener("resize", letKeysScroll);
