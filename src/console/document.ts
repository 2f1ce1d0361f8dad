import { escaped } from '../lib/text/html.ts'
import type { Boot } from './paths.ts'

/**
 * Allows only the console's files and calls to this host: no inline scripts or styles, and no frame
 * around it. A demo instance shows captured e-mails in a frame.
 */
export const contentPolicyOf = (isEvaluation: boolean): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    ...(isEvaluation ? ["frame-src 'self'"] : []),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230b5563'/%3E%3Cpath d='M3 11l3-4 3 2 4-5' fill='none' stroke='%23fff' stroke-width='1.6'/%3E%3C/svg%3E"

/** The one document behind every page; the script draws the page that its address names. */
export const documentOf = (
  boot: Boot,
  files: { script: string; style: string; font: string; modules: readonly string[] },
  /** Requests that the page will make: they are sent before the script has loaded. */
  asked: readonly string[] = [],
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="boot" content="${escaped(JSON.stringify(boot))}">
<title>${escaped(boot.service)}</title>
<link rel="icon" href="${icon}">
<link rel="preload" as="font" type="font/woff2" crossorigin href="/console/${files.font}">
<link rel="stylesheet" href="/console/${files.style}">
<script type="module" src="/console/${files.script}"></script>
${[...new Set(files.modules)].map(name => `<link rel="modulepreload" href="/console/${name}">\n`).join('')}${asked.map(path => `<link rel="preload" as="fetch" crossorigin href="${escaped(path)}">\n`).join('')}</head>
<body>
<div id="console">
<header class="rail"><div class="row spread"><span class="name">${escaped(boot.service)}</span></div></header>
<noscript><main class="page"><h1>${escaped(boot.service)}</h1>
<p>The console needs JavaScript. Without it: <a href="/sign-in">sign in</a>, read the <a href="/openapi.json">API description</a> or the <a href="/status.json">status</a>.</p></main></noscript>
</div>
</body>
</html>
`
