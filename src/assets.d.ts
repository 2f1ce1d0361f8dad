declare module '*.sql' {
  const text: string
  export default text
}

declare module '*.tsv' {
  const text: string
  export default text
}
