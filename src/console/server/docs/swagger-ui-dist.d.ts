// The package brings no types. Imported with `type: 'file'`, each of these is the path of a file
// that is also inside the binary.
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export default path
}

declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  export default path
}
