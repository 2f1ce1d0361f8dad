// Calls go to the host that served the page, whatever server the document names: the policy allows
// no other.
const root = document.getElementById('swagger-ui')
const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
paint()
dark.addEventListener('change', paint)

const withScheme = request => {
  const value = request.headers.Authorization
  if (value && !value.includes(' ')) request.headers.Authorization = `Token ${value}`
  return request
}

fetch(root.dataset.document)
  .then(response =>
    response.ok ? response.json() : Promise.reject(new Error(`status ${response.status}`)),
  )
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
    notice.textContent = `The API description could not be loaded: ${error.message}`
    root.replaceChildren(notice)
  })
