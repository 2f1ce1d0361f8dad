/** The column list of a SELECT that returns records: each column under the name of its field. */
export const selected = (columns: Readonly<Record<string, string>>, table?: string): string =>
  Object.entries(columns)
    .map(([field, column]) => `${table === undefined ? '' : `${table}.`}${column} AS "${field}"`)
    .join(', ')
