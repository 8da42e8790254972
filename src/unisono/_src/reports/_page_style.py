"""The CSS of the page: one column on a phone, several on a desk; light or dark by the reader's preference."""

from __future__ import annotations

from typing import Final

PAGE_STYLE: Final = """
:root{color-scheme:light dark;--page:#f6f7f9;--card:#ffffff;--text:#1c2126;--muted:#5b6570;--line:#d9dee4;
--accent:#0072b2;--warn:#b45309;--good:#007f5f;--code:#f0f2f5;
--chart-background:var(--card);--chart-text:var(--text);--chart-grid:var(--line)}
@media (prefers-color-scheme:dark){:root{--page:#0f1216;--card:#181c22;--text:#e6e8eb;--muted:#9aa4af;--line:#333b45;
--accent:#5ab4f0;--warn:#f5a356;--good:#3ecf9f;--code:#20262e}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1180px;margin:0 auto;padding:20px 16px 48px}
h1{font-size:1.5rem;margin:0 0 2px;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:32px 0 10px;overflow-wrap:anywhere}
h3{font-size:1rem;margin:20px 0 8px}
p{margin:6px 0}
.muted{color:var(--muted)}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:10px;margin:14px 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:10px 12px;min-width:0}
.tile b{display:block;font-size:1.15rem;font-weight:600;overflow-wrap:anywhere}
.tile span{color:var(--muted);font-size:.82rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:12px}
.charts .card{padding:8px;min-width:0}
.charts svg{width:100%}
.verdict{border-left:4px solid var(--accent);margin:10px 0}
.verdict.limit{border-left-color:var(--warn)}
.verdict b{display:block}
.bar{display:flex;height:22px;border-radius:6px;overflow:hidden;margin:10px 0 8px}
.bar i{display:block;min-width:0}
.key{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:.88rem}
.key span{white-space:nowrap}
.key+p{font-size:.88rem;margin-bottom:0}
.key i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;padding:6px 10px 6px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--muted);overflow-wrap:normal}
td{overflow-wrap:anywhere}
td.time{white-space:nowrap;width:1%;padding-right:18px}
tr:last-child td,tr:last-child th{border-bottom:0}
pre{background:var(--code);border-radius:8px;padding:10px 12px;overflow-x:auto;font-size:.82rem;margin:8px 0}
code{font-family:ui-monospace,monospace;font-size:.9em}
details{margin:10px 0}
summary{cursor:pointer;font-weight:600}
footer{margin-top:36px;font-size:.82rem;color:var(--muted)}
"""
