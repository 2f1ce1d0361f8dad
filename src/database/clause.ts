/** A piece of SQL with the values of its placeholders. */
export interface Clause {
  sql: string
  values: (string | number)[]
}

export const clause = (sql: string, ...values: (string | number)[]): Clause => ({ sql, values })

/** The conjunction of at least one clause. */
export const allOf = (clauses: readonly Clause[]): Clause => ({
  sql: clauses.map(({ sql }) => sql).join(' AND '),
  values: clauses.flatMap(({ values }) => values),
})

/** The same behind WHERE; nothing where there are none. */
export function whereOf(clauses: readonly Clause[]): Clause {
  const { sql, values } = allOf(clauses)
  return { sql: sql && `WHERE ${sql}`, values }
}

/** The column list of a SELECT that returns records: each column under the name of its field. */
export const selected = (columns: Readonly<Record<string, string>>, table?: string): string =>
  Object.entries(columns)
    .map(([field, column]) => `${table === undefined ? '' : `${table}.`}${column} AS "${field}"`)
    .join(', ')
