import { createHash } from 'node:crypto'
import { escaped } from '../../lib/text/html.ts'

const style = `:root { color-scheme: light dark; }
body { margin: 0; background: #fafbfb; color: #1d2b30; font: 16px/1.5 system-ui, sans-serif; }
header { padding: 14px 20px; background: #0b5563; color: #fff; font-weight: 600; }
main { max-width: 26rem; margin: 2rem auto; padding: 0 20px; }
h1 { font-size: 1.3rem; } h2 { font-size: 1rem; margin-top: 2rem; }
label { display: block; margin: .8rem 0; }
input { display: block; box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; border: 1px solid #8a9aa1; border-radius: 6px; }
button { padding: .5rem 1rem; font: inherit; border: 0; border-radius: 6px; background: #0b5563; color: #fff; cursor: pointer; }
button.plain { background: #dfe7ea; color: #1d2b30; }
table { width: 100%; border-collapse: collapse; } td { padding: .3rem 0; border-top: 1px solid #d9e0e3; }
.notice { padding: .6rem .8rem; border-left: 4px solid #0b5563; background: #e8f0f2; } .wrong { border-color: #a3231c; background: #f8e9e8; }
figure { margin: 1rem 0; max-width: 14rem; }
form.row { display: inline-block; margin-right: .5rem; }
@media (prefers-color-scheme: dark) {
  body { background: #14191c; color: #dfe7ea; } header { background: #0a3a44; }
  .notice { background: #1d2a2f; } .wrong { background: #35201f; } td { border-color: #2b353a; }
}`

const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * Nothing but this style, forms to this site, and no frame around it: the page has no script at
 * all.
 */
const contentPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

export interface Page {
  serviceName: string
  title: string
  /** HTML, with everything that people wrote escaped. */
  body: string
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
<header>${escaped(serviceName)}</header>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`

const common = {
  'cache-control': 'no-store',
  // Within this site the origin must be told, so that a form can be known to be ours; beyond it
  // nothing, because addresses hold tokens.
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
      'content-security-policy': contentPolicy,
      'cross-origin-opener-policy': 'same-origin',
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
