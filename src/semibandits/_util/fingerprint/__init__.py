"""Fingerprints of experiments and of kernel functions: the same for the same data and code, in any process."""

from semibandits._util.fingerprint.content_hash import SOURCE, Fingerprint, digest, fingerprint

__all__ = ["SOURCE", "Fingerprint", "digest", "fingerprint"]
