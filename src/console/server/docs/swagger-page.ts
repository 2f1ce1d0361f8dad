import { escaped } from '../../../lib/text/html.ts'

/**
 * The page with Swagger UI; it has no inline script or style, so that its Content-Security-Policy
 * needs no exception.
 */
export const swaggerPage = (serviceName: string, version: string) => `<!doctype html>
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
