declare module '*.sql' {
  const text: string
  export default text
}

declare module '*.tsv' {
  const text: string
  export default text
}

declare module '*/path-states.txt' {
  const path: string
  export default path
}
