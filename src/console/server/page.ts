import { createHash } from 'node:crypto'
import { t } from '../../http/answer/schema.ts'
import { readForm } from '../../http/input/body.ts'
import { escaped } from '../../lib/text/html.ts'

/** The body of an operation that a form of a page is sent to. */
export const formBody = {
  body: t.Optional(t.Any()),
  parse: ({ request }: { request: Request }) => readForm(request),
}

const style = `@font-face { font-family: "Inter Variable"; font-weight: 100 900; font-display: swap; src: url(/console/inter.woff2) format("woff2"); }
:root { color-scheme: light dark; --ground: #f9f9fb; --surface: #fff; --line: #e0e1e6; --strong: #8b8d98; --text: #1c2024; --quiet: #5a5f66; --brand: #0d5f73; --link: #0b6478; --note: #e6f4fe; --bad: #c4262c; --bad-ground: #feebec; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--ground); color: var(--text); font: 15px/1.5 "Inter Variable", system-ui, sans-serif; }
a { color: var(--link); }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; padding: 12px 20px; background: var(--surface); border-bottom: 1px solid var(--line); }
header strong { display: flex; align-items: center; gap: .5rem; margin-right: auto; } header strong a { color: inherit; text-decoration: none; }
header svg { color: var(--brand); }
header > a { font-size: .875rem; }
main { width: min(27rem, calc(100vw - 2rem)); margin: 3rem auto; padding: 1.5rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; } h2 { font-size: 1rem; margin: 1.75rem 0 .5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
label { display: block; margin: .75rem 0; font-size: .8125rem; color: var(--quiet); }
input { display: block; width: 100%; margin-top: .25rem; padding: .5rem; font: inherit; font-size: .9375rem; color: var(--text); background: var(--surface); border: 1px solid var(--strong); border-radius: 6px; }
button, a.button { padding: .5rem 1rem; font: inherit; font-weight: 500; border: 1px solid var(--brand); border-radius: 6px; background: var(--brand); color: #fff; cursor: pointer; }
a.button { display: inline-block; text-decoration: none; }
button.plain { background: var(--surface); border-color: var(--strong); color: var(--text); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; } td { padding: .375rem 0; border-top: 1px solid var(--line); }
.notice { padding: .6rem .8rem; border-left: 4px solid var(--brand); background: var(--note); } .wrong { border-color: var(--bad); background: var(--bad-ground); }
figure { margin: 1rem 0; max-width: 14rem; background: #fff; }
form.row { display: inline-block; margin-right: .5rem; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #111113; --surface: #18191b; --line: #2e3135; --strong: #696e77; --text: #edeef0; --quiet: #b0b4ba; --brand: #12677e; --link: #4ccce6; --note: #0d2847; --bad: #ff9592; --bad-ground: #3b1219; }
}`

const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * Nothing but this style and its typeface, forms to this site, and no frame around it: the page has no script at
 * all. Without scripts it needs no opener policy, which would cut an assistant off that opens consent in
 * a popup.
 */
const contentPolicy = (formsTo = '') =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; font-src 'self'; img-src data:; form-action 'self' ${formsTo}; base-uri 'none'; frame-ancestors 'none'`

export interface Page {
  serviceName: string
  title: string
  /** HTML, with everything that people wrote escaped. */
  body: string
  /** Another origin or scheme that its forms may lead to. */
  formsTo?: string
}

const document = ({ serviceName, title, body }: Page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · ${escaped(serviceName)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header>
<strong><svg width="24" height="24" viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4" fill="currentColor"/><path d="M3 11l3-4 3 2 4-5" fill="none" stroke="#fff" stroke-width="1.6"/></svg><a href="/">${escaped(serviceName)}</a></strong>
<a href="/docs">Documentation</a>
<a href="/status">Status</a>
</header>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`

const common = {
  'cache-control': 'no-store',
  // Within this site the origin must be sent, so that a form can be recognised as ours; other sites
  // get nothing, because addresses hold tokens.
  'referrer-policy': 'same-origin',
}

/** A page that belongs to one person: kept nowhere. */
export const pageAnswer = (
  page: Page,
  { status = 200, cookie }: { status?: number; cookie?: string } = {},
): Response =>
  new Response(document(page), {
    status,
    headers: {
      ...common,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentPolicy(page.formsTo),
      'x-content-type-options': 'nosniff',
      ...(cookie !== undefined && { 'set-cookie': cookie }),
    },
  })

/** Sends the browser on with GET, so that a reload repeats nothing. */
export const seeOther = (location: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: { ...common, location, ...(cookie !== undefined && { 'set-cookie': cookie }) },
  })
