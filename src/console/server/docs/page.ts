import { escaped } from '../../../lib/text/html.ts'
/**
 * The documentation page; it has no inline script or style, so that its Content-Security-Policy
 * needs no exception.
 */
export const docsPage = (serviceName: string, version: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(serviceName)}: API</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230b5563'/%3E%3Cpath d='M3 11l3-4 3 2 4-5' fill='none' stroke='%23fff' stroke-width='1.6'/%3E%3C/svg%3E">
<link rel="stylesheet" href="/docs/assets/swagger-ui.css?v=${version}">
<link rel="stylesheet" href="/docs/assets/docs.css?v=${version}">
<script src="/docs/assets/swagger-ui-bundle.js?v=${version}" defer></script>
<script src="/docs/assets/docs.js?v=${version}" defer></script>
</head>
<body>
<header class="heading">
<h1>${escaped(serviceName)}</h1>
<span class="badge">v1</span>
<span class="badge">OpenAPI 3.0.3</span>
<nav><a href="/openapi.json">openapi.json</a></nav>
</header>
<noscript><p class="notice">This page needs JavaScript to show the API. The same description is in <a href="/openapi.json">openapi.json</a>,
which every OpenAPI tool reads.</p></noscript>
<main id="swagger-ui" data-document="/openapi.json"></main>
</body>
</html>
`

// Calls go to the host that served the page, whatever server the document names: the policy allows
// no other.
export const docsScript = `const root = document.getElementById('swagger-ui')
const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
paint()
dark.addEventListener('change', paint)

const withScheme = request => {
  const value = request.headers.Authorization
  if (value && !value.includes(' ')) request.headers.Authorization = 'Token ' + value
  return request
}

fetch(root.dataset.document)
  .then(response => (response.ok ? response.json() : Promise.reject(new Error('status ' + response.status))))
  .then(spec =>
    SwaggerUIBundle({
      spec: { ...spec, servers: [{ url: location.origin }] },
      domNode: root,
      deepLinking: true,
      docExpansion: Object.keys(spec.paths).length > 40 ? 'none' : 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      persistAuthorization: true,
      requestInterceptor: withScheme,
      showCommonExtensions: true,
      tryItOutEnabled: true,
      validatorUrl: null,
    }),
  )
  .catch(error => {
    const notice = document.createElement('p')
    notice.className = 'notice'
    notice.textContent = 'The API description could not be loaded: ' + error.message
    root.replaceChildren(notice)
  })
`

export const docsStyle = `html { box-sizing: border-box; overflow-y: scroll; }
*, *::before, *::after { box-sizing: inherit; }
body { margin: 0; background: #fafbfb; color: #1d2b30; font: 16px/1.5 system-ui, sans-serif; }
.heading { display: flex; align-items: center; gap: 12px; padding: 14px max(20px, calc((100% - 1420px) / 2)); background: #0b5563; color: #fff; }
.heading h1 { margin: 0; font-size: 20px; font-weight: 600; }
.heading .badge { flex: none; padding: 1px 8px; border: 1px solid #ffffff70; border-radius: 9px; font-size: 12px; }
.heading nav { margin-left: auto; }
.heading a { color: #fff; font-size: 14px; }
.notice { max-width: 1420px; margin: 30px auto; padding: 0 20px; }
.swagger-ui, body .swagger-ui :is(p, small, h4, h5, label, input, select, th, .btn, .opblock-tag, .opblock-summary-description, .parameter__name, .response-col_status) { font-family: system-ui, sans-serif; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info hgroup.main { display: none; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .scheme-container { padding: 14px 0; background: transparent; box-shadow: none; }
.swagger-ui .opblock .opblock-summary-method { min-width: 72px; padding: 5px 0; font-size: 12px; }
@media (max-width: 480px) { .heading .badge + .badge { display: none; } }
html.dark-mode body { background: #14191c; color: #dfe7ea; }
html.dark-mode .heading { background: #0a3a44; }
`
