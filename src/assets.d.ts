declare module '*.sql' {
  const text: string
  export default text
}

declare module '*.tsv' {
  const text: string
  export default text
}

declare module '*.css' {
  const text: string
  export default text
}

declare module '*/swagger-start.js' {
  const text: string
  export default text
}
