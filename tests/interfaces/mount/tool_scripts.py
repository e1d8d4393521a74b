# ruff: noqa: E501  # each script stands on its line
"""What shells, editors and languages do to files: scripts that shall end on a mount as they end on a disk."""

from __future__ import annotations

from typing import NamedTuple


class ToolScript(NamedTuple):
    """`needs`: programs on PATH. It runs in a directory with TASK.md, or in an empty one (`tree`)."""

    name: str
    script: str
    needs: tuple[str, ...] = ()
    shell: str = "sh"


NODE_SAVE = """
const fs = require('fs'), fd = fs.openSync('TASK.md', 'r+');
fs.ftruncateSync(fd, 0); fs.writeSync(fd, 'saved by an editor\\n', 0); fs.fdatasyncSync(fd); fs.closeSync(fd);
console.log(fs.readFileSync('TASK.md', 'utf8'), fs.statSync('TASK.md').size);
"""
NODE_COPY = """
const fs = require('fs'), at = process.env.OUT + '/copy';
fs.writeFileSync('TASK.md', 'by node\\n'); fs.appendFileSync('TASK.md', 'more\\n');
fs.copyFileSync('TASK.md', at); console.log(fs.readFileSync(at, 'utf8'));
"""
PYTHON_REPLACE = """
import os, tempfile
fd, name = tempfile.mkstemp(dir='.')
os.write(fd, b'replaced at once\\n'); os.fsync(fd); os.close(fd); os.replace(name, 'TASK.md')
print(open('TASK.md').read(), sorted(name for name in os.listdir('.') if name.startswith('tmp')))
"""
PYTHON_MAPPED = """
import mmap, os, shutil
open('TASK.md', 'w').write('mapped bytes\\n')
with open('TASK.md', 'rb') as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data: print(bytes(data))
shutil.copyfile('TASK.md', os.environ['OUT'] + '/copy'); print(open(os.environ['OUT'] + '/copy').read())
"""
PYTHON_UPDATE = """
with open('TASK.md', 'w+') as file:
    file.write('0123456789'); file.seek(3); file.write('xyz'); file.seek(0); print(file.read())
with open('TASK.md', 'r+b') as file: file.seek(0, 2); file.write(b'end'); file.truncate(8)
print(open('TASK.md').read())
"""

RECORD_SCRIPTS = (
    ToolScript("redirect", "echo one > TASK.md; cat TASK.md; wc -c < TASK.md; stat -c %s TASK.md", ("bash",), "bash"),
    ToolScript("append", "echo one > TASK.md; echo two >> TASK.md; cat TASK.md; tail -c 4 TASK.md", ("dash",), "dash"),
    ToolScript("busybox", "echo b > TASK.md; cp TASK.md $OUT/c; cat $OUT/c >> TASK.md; head -n 3 TASK.md; md5sum TASK.md",
               ("busybox",), "busybox"),
    ToolScript("vim", "echo one > TASK.md; vim -Nu NONE -es -c '%s/one/two/' -c wq TASK.md; echo $?; cat TASK.md; ls -A | grep swp",
               ("vim",)),
    ToolScript("vim-backup", "echo one > TASK.md; vim -Nu NONE -es -c 'set backupcopy=yes' -c 'normal Aed' -c wq TASK.md; echo $?; "
               "cat TASK.md", ("vim",)),
    ToolScript("ed", "echo one > TASK.md; printf '1s/one/three/\\na\\nfour\\n.\\nw\\nq\\n' | ed -s TASK.md; cat TASK.md", ("ed",)),
    ToolScript("sed-i", "echo one > TASK.md; sed -i s/one/five/ TASK.md; cat TASK.md; ls -A | grep ^sed"),
    ToolScript("jq-mv", "echo '{\"a\": 1}' > TASK.md; jq '.a += 1' TASK.md > new.json && mv new.json TASK.md; cat TASK.md",
               ("jq",)),
    ToolScript("tee-dd", "echo six | tee TASK.md; dd if=TASK.md of=$OUT/c bs=1 2>&- ; cat $OUT/c; dd if=$OUT/c of=TASK.md 2>&-; "
               "cat TASK.md"),
    ToolScript("several-writers", "echo a > $OUT/a; echo b > $OUT/b; (cat $OUT/a; cat $OUT/b) > TASK.md; cat TASK.md; "
               "exec 5> TASK.md; echo c >&5; cat TASK.md; echo d >&5; exec 5>&-; cat TASK.md", ("bash",), "bash"),
    ToolScript("truncate", ": > TASK.md; wc -c TASK.md; echo abcdef > TASK.md; truncate -s 3 TASK.md; cat TASK.md"),
    ToolScript("cp-touch", "echo new > $OUT/n; cp -p $OUT/n TASK.md; cat TASK.md; touch TASK.md; chmod u+w TASK.md; cat TASK.md"),
    ToolScript("curl", "echo fetched > $OUT/f; curl -s -o TASK.md file://$OUT/f; cat TASK.md; sha256sum < TASK.md", ("curl",)),
    ToolScript("node-save", f"echo old text that is longer > TASK.md; node -e \"{NODE_SAVE}\"", ("node",)),
    ToolScript("node-copy", f"node -e \"{NODE_COPY}\"; cat TASK.md", ("node",)),
    ToolScript("python-replace", f"python3 -c \"{PYTHON_REPLACE}\"", ("python3",)),
    ToolScript("python-mapped", f"python3 -c \"{PYTHON_MAPPED}\"", ("python3",)),
    ToolScript("python-update", f"python3 -c \"{PYTHON_UPDATE}\"", ("python3",)),
    ToolScript("here-document", "cat > TASK.md <<END\nline $((1+1))\nend\nEND\ncat -n TASK.md; sort -r TASK.md; awk 'END{print NR}' TASK.md"),
    ToolScript("large", "yes 0123456789 | head -c 3000000 > TASK.md; wc -c < TASK.md; sha256sum < TASK.md; tail -c 5 TASK.md"),
)  # fmt: skip

_FIXED = "export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000' HOME=$OUT; "
_NAMED = "git config user.name n; git config user.email e@example.org; "
TREE_SCRIPTS = (
    ToolScript("git", _FIXED + "git init -q -b main .; " + _NAMED + "echo a > a; mkdir d; echo b > d/b; git add .; git commit -qm one; "
               "git checkout -qb other; echo c >> a; git commit -qam two; git checkout -q main; git merge -q other; git gc -q; "
               "git fsck; git log --format=%H%s; git status --short; cat a; rm -rf .git", ("git",)),
    ToolScript("rsync", "mkdir -p $OUT/s/t; echo 1 > $OUT/s/x; echo 2 > $OUT/s/t/y; rsync -aO $OUT/s/ to; rsync -aiO $OUT/s/ to; "
               "echo 3 >> $OUT/s/x; rsync -rltiO --checksum $OUT/s/ to | wc -l; cat to/x to/t/y", ("rsync",)),
    ToolScript("tar", "mkdir a; echo 1 > a/1; echo 2 > a/2; tar cf t.tar a; rm -r a; tar xf t.tar; cat a/1 a/2; tar tf t.tar | sort; rm t.tar"),
    ToolScript("cp-r", "mkdir -p a/b/c; echo x > a/b/c/f; cp -r a z; find . | sort; rm -r a; find . -type f | sort; cat z/b/c/f"),
    ToolScript("search", "mkdir -p a/b; echo needle here > a/b/f; echo none > a/g; grep -rn needle .; rg -n --no-ignore needle; "
               "find . -name g -size -2", ("rg",)),
    ToolScript("make", "printf 'out: in\\n\\tcat in in > out\\n' > Makefile; echo 1 > in; make -s; make -q && echo current; sleep 0.05; "
               "echo 2 > in; make -s; cat out", ("make",)),
    ToolScript("sqlite-ro", "sqlite3 $OUT/d.db 'create table t(a); insert into t values(1),(2);'; cp $OUT/d.db d.db; "
               "sqlite3 -readonly d.db 'select sum(a) from t; pragma integrity_check;'; sqlite3 -readonly d.db 'insert into t values(3)'"
               " 2>&1 | grep -c readonly", ("sqlite3",)),
    ToolScript("names", "echo 1 > 'a b'; echo 2 > ä; echo 3 > Ä; echo 4 > 'q\"q'; ls -1 | wc -l; cat ä Ä 'a b' 'q\"q'; mv ä c; ls | wc -l; "
               "mkdir m; mv c m/; mv m n; cat n/c; rmdir n; echo $?; rm -r n; ls | wc -l"),
    ToolScript("python-tree", "python3 -c \"import os, shutil, zipfile, pathlib\npathlib.Path('a/b').mkdir(parents=True)\n"
               "pathlib.Path('a/b/c').write_text('x'*5000)\nshutil.copytree('a', 'd')\nzipfile.ZipFile('z.zip','w').write('d/b/c')\n"
               "print(zipfile.ZipFile('z.zip').read('d/b/c') == b'x'*5000)\nos.replace('d/b/c', 'a/b/c'); shutil.rmtree('d')\n"
               "os.remove('z.zip'); print(sorted(str(p) for p in pathlib.Path('.').rglob('*')))\"", ("python3",)),
    ToolScript("exclusive", "set -C; echo 1 > lock && echo got; (echo 2 > lock) 2>&- || echo held; rm lock; echo 3 > lock; cat lock",
               ("bash",), "bash"),
)  # fmt: skip

REFUSED_SCRIPTS = (  # in projects/main of a planner: the errno's words
    ("echo x > ENVIRONMENT.md", "Permission denied"),
    ("echo x > ROBOTS.md", "Permission denied"),
    ("rm TASK.md", "Permission denied"),
    ("mv TASK.md other.md", "Permission denied"),
    ("mkdir made", "Permission denied"),
    ("rmdir artifacts", "denied|not empty"),
    ("echo x > artifacts/x", "Permission denied"),
    ("ln TASK.md hard", "not permitted"),
    ("ln -s TASK.md ENVIRONMENT.md", "exists"),
    ("cat ../../agents/mother/journal.jsonl", "No such file"),
    ("echo x > " + "n" * 256, "too long"),
    ("cat " + "n" * 256, "too long"),
    ("cat TASK.md/x", "Not a directory"),
    ("cat .", "Is a directory"),
    ("rm -rf ../..", "denied|busy|refusing|not permitted"),
)
