/// The files of the inspector that are no pages.
///
/// The files are a part of the program, because a folder of resources would tie the program to the
/// place where it was built.
enum StyleSheet {
  static let bytes = Array(text.utf8)
  static let icon = Array(iconText.utf8)

  /// Three strata with a lode through them.
  private static let iconText = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" \
    fill="#1f4b57"/><path d="M5 10h22M5 16h22M5 22h22" stroke="#8fb9c2" stroke-width="2.4" \
    stroke-linecap="round"/><path d="M20 5 12 27" stroke="#f2b544" stroke-width="3.4" \
    stroke-linecap="round"/></svg>
    """

  private static let text = """
    :root {
      color-scheme: light dark;
      --paper: #ffffff; --raised: #f6f8f8; --ink: #182225; --faint: #5b6a6e; --line: #dde4e5;
      --link: #0b5f73; --accent: #1f4b57; --onaccent: #ffffff; --hover: #eef4f5;
      --mark: #8a4b00; --markpaper: #fff1d6; --error: #a3202c; --errorpaper: #fdeeee;
      --warn: #7a4d00; --warnpaper: #fff6e0; --notepaper: #eef5f7; --focus: #d98a00;
      --water: #e9f1f4; --land: #fbfaf5; --shore: #c4cfc8; --point: #b3452b;
      --sans: system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif;
      --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #14191b; --raised: #1c2326; --ink: #e4eaeb; --faint: #9aa9ad; --line: #2d373a;
        --link: #7cc7d8; --accent: #2d6b7b; --onaccent: #ffffff; --hover: #222b2e;
        --mark: #ffc66b; --markpaper: #3a2c12; --error: #ff9a9f; --errorpaper: #3a1d20;
        --warn: #ffcf7d; --warnpaper: #33290f; --notepaper: #1b2a2e; --focus: #ffb84d;
        --water: #172329; --land: #262c2b; --shore: #414b49; --point: #ff9166;
      }
    }
    * { box-sizing: border-box; }
    html { font: 15px/1.5 var(--sans); background: var(--paper); color: var(--ink); }
    body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; }
    a { color: var(--link); text-decoration: none; }
    a:hover { text-decoration: underline; }
    :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
    code, pre, .bytes { font-family: var(--mono); font-size: .88em; }
    h1 { font-size: 1.45rem; line-height: 1.2; margin: 0; font-weight: 650; overflow-wrap: anywhere; }
    h2 { font-size: 1rem; margin: 2rem 0 .6rem; font-weight: 650; }
    small { font-size: .8em; color: var(--faint); font-weight: 400; }
    .faint { color: var(--faint); }
    .null { color: var(--faint); font-style: italic; }
    a .null { color: inherit; }
    .word { color: var(--faint); }
    .spacer { flex: 1; }
    .mark {
      font: .72em/1 var(--mono); color: var(--mark); background: var(--markpaper);
      border: 1px solid currentColor; border-radius: 3px; padding: 0 .25em; margin: 0 .1em;
      vertical-align: .1em; unicode-bidi: isolate;
    }
    .skip { position: absolute; left: -99em; }
    .skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .4rem .8rem; z-index: 3; }

    header.top {
      display: flex; align-items: baseline; gap: .75rem; padding: .6rem 1.25rem;
      border-bottom: 1px solid var(--line); background: var(--raised);
    }
    header.top nav { display: flex; gap: .5rem; min-width: 0; overflow: hidden; white-space: nowrap; }
    .brand { font-weight: 700; color: var(--ink); }
    .brand::before {
      content: ""; display: inline-block; width: .62em; height: .62em; margin-right: .45em;
      background: #e0a030; transform: rotate(45deg); border-radius: 2px;
    }
    .frame { display: flex; flex: 1; min-width: 0; }
    nav.side { width: 14.5rem; flex: none; border-right: 1px solid var(--line); padding: 1rem .75rem; }
    nav.side ul { list-style: none; margin: 0; padding: 0; position: sticky; top: 1rem; }
    nav.side a {
      display: flex; justify-content: space-between; gap: .75rem; padding: .28rem .6rem;
      border-radius: 6px; color: var(--ink);
    }
    nav.side a:hover { background: var(--hover); text-decoration: none; }
    nav.side bdi { overflow: hidden; text-overflow: ellipsis; }
    nav.side a[aria-current] { background: var(--accent); color: var(--onaccent); }
    nav.side a[aria-current] .count { color: inherit; }
    .count { color: var(--faint); font-variant-numeric: tabular-nums; font-size: .86em; }
    main { flex: 1; min-width: 0; padding: 1.25rem 1.5rem 3rem; }
    footer { padding: .6rem 1.25rem; border-top: 1px solid var(--line); color: var(--faint); font-size: .82rem; }

    .title { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5rem 1.25rem; margin-bottom: 1rem; }
    .views, .forms { display: flex; flex-wrap: wrap; gap: .3rem; }
    .views a { padding: .15rem .65rem; border-radius: 999px; color: var(--faint); }
    .views a:hover { background: var(--hover); text-decoration: none; }
    .views a[aria-current] { background: var(--hover); color: var(--ink); font-weight: 600; }
    .forms a { font: .78rem var(--mono); color: var(--faint); padding: .15rem .4rem; border: 1px solid var(--line); border-radius: 5px; }

    .selection { margin-bottom: 1rem; }
    .condition { display: flex; gap: .5rem; align-items: center; flex-wrap: wrap; }
    .condition + .condition { margin-top: .5rem; }
    .condition label { font-weight: 600; font-size: .88rem; min-width: 4.9rem; }
    .condition input { flex: 1 1 20rem; }
    .condition input, .condition select {
      min-width: 0; font: .92rem var(--mono); padding: .5rem .7rem;
      border: 1px solid var(--faint); border-radius: 7px; background: var(--paper); color: var(--ink);
    }
    .condition input[aria-invalid] { border-color: var(--error); }
    .button {
      font: 600 .88rem var(--sans); padding: .48rem .9rem; border-radius: 7px; cursor: pointer;
      border: 1px solid var(--line); background: var(--raised); color: var(--ink); display: inline-block;
    }
    .button:hover { background: var(--hover); text-decoration: none; }
    .button.main { background: var(--accent); border-color: var(--accent); color: var(--onaccent); }
    .hint { margin: .45rem 0 0; font-size: .86rem; color: var(--faint); display: flex; flex-wrap: wrap; gap: .2rem .8rem; }
    .hint strong { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
    .hint span { display: contents; }
    .chips { list-style: none; display: flex; flex-wrap: wrap; gap: .4rem; padding: 0; margin: .6rem 0 0; }
    .chips li { border: 1px solid var(--line); border-radius: 999px; padding: .1rem .7rem; background: var(--raised); }
    .chips a { margin-left: .5rem; font-weight: 700; }
    .folds { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin-top: .5rem; font-size: .88rem; }
    .folds summary { color: var(--link); }
    .folds details[open] { flex-basis: 100%; }
    fieldset { border: 1px solid var(--line); border-radius: 8px; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; padding: .7rem 1rem; margin: .4rem 0 0; }
    fieldset label { display: inline-flex; gap: .4rem; align-items: baseline; }
    legend { color: var(--faint); font-size: .82rem; }
    .links { display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; padding: 0; margin: .4rem 0 0; }
    summary { cursor: pointer; }

    .facets { display: flex; flex-wrap: wrap; gap: .75rem; margin-bottom: 1rem; }
    .facet { border: 1px solid var(--line); border-radius: 9px; padding: .65rem .85rem; min-width: 13rem; max-width: 22rem; background: var(--raised); }
    .facet h2 {
      display: flex; justify-content: space-between; font-size: .92rem; margin: 0 0 .35rem;
    }
    .facet ul { list-style: none; margin: 0; padding: 0; font-size: .88rem; }
    .facet li { display: flex; justify-content: space-between; gap: 1rem; }
    .facet li > :first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }

    .scroll { overflow: auto; max-height: max(20rem, calc(100vh - 2rem)); border: 1px solid var(--line); border-radius: 9px; }
    table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .89rem; }
    th, td { text-align: left; padding: .36rem .8rem; vertical-align: top; white-space: nowrap; }
    th { background: var(--raised); font-weight: 600; box-shadow: inset 0 -1px var(--line); position: sticky; top: 0; z-index: 1; }
    th small { display: block; font-size: .74em; line-height: 1.2; }
    th a { color: inherit; }
    th .arrow { color: var(--focus); }
    tr + tr td { border-top: 1px solid var(--line); }
    .records td { max-width: 19rem; }
    .records td:first-child, .records th:first-child { position: sticky; left: 0; max-width: 9rem; background: var(--paper); box-shadow: inset -1px 0 var(--line); }
    .records th:first-child { z-index: 2; background: var(--raised); box-shadow: inset -1px -1px var(--line); }
    tbody tr:hover td, .records tbody tr:hover td:first-child { background: var(--hover); }
    td { max-width: 26rem; overflow: hidden; text-overflow: ellipsis; }
    td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
    /* The color of a mark beyond the ellipsis is not shown. */
    td:has(mark) { overflow: clip; overflow-clip-margin: content-box; }
    td mark { background: var(--markpaper); color: var(--mark); font-weight: 600; border-radius: 2px; }
    td time { font-variant-numeric: tabular-nums; }
    .foot { display: flex; gap: 1rem; align-items: center; justify-content: space-between; color: var(--faint); font-size: .86rem; margin: .8rem 0 0; }
    .empty { color: var(--faint); padding: 1.2rem; border: 1px dashed var(--line); border-radius: 9px; margin: 0; }

    .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .7rem 1.5rem; margin: 0 0 1rem; }
    .facts dt { color: var(--faint); font-size: .8rem; }
    .facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
    .record { margin: 0; border: 1px solid var(--line); border-radius: 9px; }
    .record > div { display: grid; grid-template-columns: minmax(9rem, 17rem) 1fr; gap: 1rem; padding: .38rem .9rem; }
    .record > div + div { border-top: 1px solid var(--line); }
    .record dt { font-weight: 600; overflow-wrap: anywhere; }
    .record dt small { margin-left: .5em; white-space: nowrap; }
    .rest { margin-top: .75rem; }
    .rest .record { margin-top: .5rem; }
    .record dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
    .equal { font-size: .78rem; margin-left: .5rem; white-space: nowrap; }
    .text { white-space: pre-wrap; }
    .numbers { overflow-wrap: anywhere; }
    .nested { margin: .2rem 0 .2rem .35rem; padding-left: .9rem; border-left: 2px solid var(--line); }
    .nested > div { display: flex; gap: .7rem; padding: .06rem 0; }
    .nested dt { font: .86em/1.7 var(--mono); font-weight: 400; color: var(--faint); flex: none; max-width: 45%; }
    .nested dd { flex: 1; }
    ol.nested { list-style-position: inside; }
    ol.nested > li::marker { color: var(--faint); font-size: .8em; }
    details summary { color: var(--faint); font-size: .88em; width: fit-content; }

    .notice { border-left: 4px solid var(--link); background: var(--notepaper); padding: .6rem 1rem; border-radius: 0 8px 8px 0; margin: 0 0 1rem; }
    .notice p { margin: 0; }
    .notice pre { margin: .5rem 0 0; overflow-x: auto; }
    .notice.error { border-color: var(--error); background: var(--errorpaper); }
    .notice.error > p:first-child { color: var(--error); }
    .notice.warning { border-color: var(--warn); background: var(--warnpaper); }
    .notice mark { background: var(--error); color: var(--paper); border-radius: 2px; }

    figure { margin: 0 0 1rem; }
    figcaption p { margin: .4rem 0; color: var(--faint); font-size: .86rem; }
    figcaption .scroll { margin-top: .5rem; }
    .drawing { overflow-x: auto; }
    .drawing svg { display: block; font: 13px var(--mono); }
    .drawing text { fill: var(--ink); }
    .drawing .heading { font-weight: 600; }
    .drawing .faint-text { fill: var(--faint); }
    .drawing .frame-box { fill: var(--raised); stroke: var(--line); stroke-width: 1.5; }
    .drawing .edge, .drawing .strong { fill: none; stroke: var(--faint); stroke-width: 1.5; }
    .drawing .strong { stroke: var(--link); stroke-width: 2; }
    .drawing .axis { fill: var(--line); stroke: var(--line); }
    .drawing .bar { fill: var(--link); }
    .drawing circle.edge { fill: var(--faint); }
    .drawing .map { width: 100%; height: auto; max-width: 72rem; background: var(--water); border-radius: 9px; font: 12px var(--sans); }
    .drawing .land { fill: var(--land); stroke: var(--shore); stroke-width: .8; stroke-linejoin: round; }
    .drawing .water { fill: var(--water); stroke: var(--shore); stroke-width: .8; }
    .drawing .grid { fill: none; stroke: var(--ink); stroke-opacity: .1; }
    .map circle.bar { fill: var(--point); fill-opacity: .72; stroke: var(--paper); stroke-width: .8; }
    .map a:hover circle.bar { fill-opacity: 1; stroke: var(--ink); stroke-width: 1.5; }
    .map text { paint-order: stroke; stroke: var(--water); stroke-width: 3px; stroke-linejoin: round; pointer-events: none; }
    .map rect { fill: var(--point); }
    .map .heat1 { fill-opacity: .18; } .map .heat2 { fill-opacity: .34; } .map .heat3 { fill-opacity: .52; }
    .map .heat4 { fill-opacity: .72; } .map .heat5 { fill-opacity: .95; }
    .map a:hover rect { stroke: var(--ink); stroke-width: 1; }
    .controls { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 .6rem; }
    .controls .button { padding: .28rem .75rem; }
    .drawing a:hover .frame-box, .drawing a:focus-visible .frame-box { stroke: var(--focus); }
    .drawing a:hover text { text-decoration: underline; }
    .edits { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0 0 1rem; }
    .edits form { margin: 0; }
    .edit .field { margin: 0 0 .9rem; }
    .edit label { font-weight: 600; }
    .edit .field > label { display: block; }
    .edit .field > label small { margin-left: .5em; font-weight: 400; }
    .edit input[type=text], .edit textarea {
      width: 100%; box-sizing: border-box; font: .92rem var(--mono); padding: .45rem .6rem;
      border: 1px solid var(--faint); border-radius: 7px; background: var(--paper); color: var(--ink);
    }
    .edit textarea { min-height: 2.6rem; resize: vertical; }
    .edit [aria-invalid] { border-color: var(--error); }
    .edit .fault { color: var(--error); margin: .2rem 0; font-size: .88rem; }
    .edit .null { font-weight: 400; font-size: .88rem; }
    .edit .choices { margin: 0 0 .9rem; }
    .edit .choices label { font-weight: 400; }
    .edit .answers { display: flex; gap: .6rem; align-items: center; }
    .button.grave { background: var(--error); border-color: var(--error); color: var(--paper); }
    .fold { margin-top: 2rem; }
    .fold > summary h2 { display: inline; margin: 0; color: var(--ink); font-size: 1rem; }
    .fold > .scroll { margin-top: .6rem; }
    .live {
      font: 600 .78rem var(--sans); color: var(--faint); background: none; cursor: pointer;
      border: 1px solid var(--line); border-radius: 999px; padding: .1rem .7rem;
    }
    .live::before {
      content: ""; display: inline-block; width: .55em; height: .55em; margin-right: .45em;
      border-radius: 50%; background: var(--line);
    }
    .live[data-state=on]::before { background: #2e9e5b; }
    .live[data-state=off]::before { background: var(--focus); }
    [hidden] { display: none; }
    .fresh td, .records .fresh td:first-child { background: var(--markpaper); }

    @media (max-width: 46rem) {
      html { font-size: 16px; }
      .frame { flex-direction: column; }
      nav.side { width: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: .5rem .75rem; }
      nav.side ul { display: flex; overflow-x: auto; gap: .25rem; }
      nav.side a { white-space: nowrap; }
      main { padding: 1rem .9rem 2rem; }
      header.top { padding: .6rem .9rem; flex-wrap: wrap; gap: .3rem .75rem; }
      .facts { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); }
      .record > div { grid-template-columns: 1fr; gap: .1rem; }
      .condition label { flex-basis: 100%; }
      .nested > div { flex-wrap: wrap; gap: 0 .6rem; }
      .drawing .map { font-size: 25px; }
    }
    @media print {
      nav.side, .forms, .folds, .views, .foot .button, .condition, footer, .skip { display: none; }
      .scroll { overflow: visible; max-height: none; border: 0; }
      .equal { display: none; }
      td { white-space: normal; overflow-wrap: anywhere; }
      a { color: inherit; }
    }
    @media (prefers-reduced-motion: no-preference) { a, .button { transition: background .12s; } }
    """
}
