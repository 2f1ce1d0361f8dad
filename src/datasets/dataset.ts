import { snakeCase } from '../lib/text/name-case.ts'
import type { Feature } from '../plans/tiers.ts'
import type { Cadence } from '../topics/catalogue/math/catalogue.ts'
import type { CodeLookup } from '../topics/catalogue/math/lookup.ts'
import { checked, type DatasetFault, type DatasetRow } from './fields.ts'

/** The context for checking rows. */
export interface RowContext {
  now: number
  catalogue: CodeLookup
  /** Names of the exchange in codes of contracts. */
  exchangeWords: readonly string[]
  /** The number of a frac disclosure by its id; undefined where it is not stored. */
  disclosureId(reference: string): number | undefined
  /** A value of a series on a day, where the series can have it. */
  point(
    code: string,
    day: string,
    value: number,
  ): { seriesId: number; observedAt: number; value: number } | undefined
}

/** The usual movement of a column that is compared with the rows before it. */
export interface GuardedColumn {
  /** Smaller moves are accepted. */
  leastMove?: number
  /** A value may stay the same for a long time: that is not listed. */
  mayRepeat?: boolean
  /** A value may change its sign or become zero. */
  mayCross?: boolean
}

/** The numbers of a record, in the columns and units in which its rows are exported. */
export interface GuardedNumbers {
  /** Identifies a line by the columns that distinguish it: a region, a contract. */
  line: Readonly<Record<string, string>>
  /** In the column of its time. */
  time: string | number
  values: Readonly<Record<string, number | null>>
}

/** The guards' settings for a dataset: its lines of numbers in time. */
export interface GuardedDataset {
  /** How far apart the rows of a line are. */
  cadence: Cadence
  /** The column that rows of a line are ordered by. */
  time: string
  columns: Readonly<Record<string, GuardedColumn>>
  numbersOf(record: unknown, codeOf: (seriesId: number) => string): readonly GuardedNumbers[]
}

/** One column of a dataset: in files, in its table and in exports. */
export interface Column<Value> {
  /** In files; the name of the field in snake case where it is absent. Null: no file has it. */
  name?: string | null
  description?: string
  required?: boolean
  /** In the table; the same default. Null: the table has no such column. */
  stored?: string | null
  /** SQL of the exported value; the stored column of table `t` where it is absent. Null: none. */
  exported?: string | null
  /** It counts things: what a publisher gives as a mean is rounded. */
  isCount?: boolean
  /** The field is a boolean, stored as 0 or 1. */
  isFlag?: boolean
  /** The column has the id of a series `s`, whose code files have. */
  isSeries?: boolean
  /** Files and table have a code: who may not see it may not see the row. */
  isCode?: boolean
  /** Reads the field from a row; throws a fault. */
  read?(row: DatasetRow, name: string, context: RowContext): Value
  /** The value in files of a field that is stored in another form. */
  written?(value: Value, record: Readonly<Record<string, unknown>>): string | number
}

/** A column of files that becomes part of other fields, such as a unit. */
export interface FileColumn extends Column<undefined> {
  isPart: true
}

type Columns = Readonly<Record<string, Column<unknown>>>
type ValueOf<C> = C extends Column<infer Value> ? Value : never

/** The record of a row by the columns of its dataset. */
export type RecordOf<C> = {
  [F in keyof C as C[F] extends FileColumn ? never : F]: ValueOf<C[F]>
}

/** Reads fields of one row, each by its column. */
type FieldReaders<C> = { readonly [F in keyof C]: () => ValueOf<C[F]> } & {
  /** The record of these fields and of all others that files have, each read by its column. */
  rest<Own extends object>(own: Own): Omit<RecordOf<C>, keyof Own> & Own
}

/** A table whose rows belong to a dataset. */
export interface DatasetTable {
  name: string
  /** The columns that identify a row in files. */
  key: readonly string[]
  /**
   * The table has the other part of a row, under a number that SQLite gives it when it is written:
   * it counts with that row.
   */
  isNumbered?: true
}

/** A table whose replaced rows are kept. */
export interface Revisions {
  table: string
  key: readonly string[]
  /** The column of the day, month or Unix ms that a row speaks for. */
  time: string
}

interface Terms<C, R> {
  /** As after `--dataset` and in `/admin/v1/datasets/{name}`. */
  name: string
  /** One sentence about the content and its origin. */
  description: string
  /** Columns by field, in the order of files and exports. */
  columns: C
  /**
   * The fields that identify a row: of rows that agree in all of them, the last one in a file
   * counts.
   */
  key: readonly (keyof C & string)[]
  /** Header and two rows of CSV. */
  example: string
  /** The table, where one row of it is one record. */
  table?: string
  /** Otherwise all tables that have its rows. */
  tables?: readonly DatasetTable[]
  /** The SQL source of exports, where that is not the table. */
  from?: string
  /** Which of these rows are exported. */
  where?: string
  /** SQL of the order of exports; where answers show numbers, rows keep them in this order. */
  order?: string
  recordedAt?: string
  /** Rows are numbered in the order of this field when they are first stored. */
  numberedBy?: keyof C & string
  /** The field of the time that rows speak for. */
  time?: keyof C & string
  /** Replaced rows are kept, for `as_of`. */
  revisions?: true
  /** Checks of numbers against the rows before; without them, bounds alone judge rows. */
  checks?: {
    cadence: Cadence
    /** The fields that identify a line; by default those of the key without the time. */
    line?: readonly (keyof C & string)[]
    columns: { readonly [F in keyof C]?: GuardedColumn }
  }
  /** What a plan needs to read its rows. */
  feature?: Feature
  /** Rows of one transaction of an import, where the usual thousand would delay requests. */
  batchMax?: number
  /** Wide files have a column for each member: these fields take its name and its cells. */
  wide?: { name: keyof C & string; value: keyof C & string }
  /** Makes the record of a row, where its columns cannot be read one by one; throws a fault. */
  read?(row: DatasetRow, read: FieldReaders<C>, context: RowContext): R
}

/** A column of files, as it is documented. */
export interface DescribedColumn {
  name: string
  required: boolean
  description: string
}

/** The declaration of a dataset, from which reading, storage, export and documentation follow. */
export interface Declared<R = unknown> {
  name: string
  description: string
  columns: readonly DescribedColumn[]
  example: string
  /** Columns of files. */
  key: readonly string[]
  /** Columns of files that count things. */
  counts: readonly string[]
  batchMax?: number
  wide?: { name: string; value: string }
  tables: readonly DatasetTable[]
  /** The table whose rows are the records, each with its `recorded_at`; undefined: prices are. */
  recordTable: DatasetTable | undefined
  /** Columns of files that have a code. */
  codeColumns: readonly string[]
  feature: Feature | undefined
  revisions: Revisions | undefined
  /** The stored column of each field of a record. */
  stored: Readonly<Record<string, string>>
  /** Fields that are stored as 0 or 1. */
  flags: readonly string[]
  keyFields: readonly string[]
  numberedBy: string | undefined
  /** Column by column the SQL of its value, and the rest of the statement. */
  exported: { columns: readonly (readonly [string, string])[]; from: string; order: string }
  guarded?: GuardedDataset
  check(row: DatasetRow, context: RowContext): { record: R } | DatasetFault
}

export function dataset<const C extends Columns, R = RecordOf<C>>(terms: Terms<C, R>): Declared<R> {
  const { name, description, example, table, batchMax, wide } = terms
  const columns: Columns = terms.columns
  const fields = Object.keys(columns)
  const inFiles = fields.filter(field => fileName(columns, field) !== null)
  const inTable = fields.filter(field => storedName(columns, field) !== null)
  // The order of the fields decides which fault of a row is named.
  const read = [...new Set([...terms.key, ...inFiles])].filter(
    field => !('isPart' in columns[field]!),
  )
  const named = (field: string) => fileName(columns, field)!
  const storedKey = terms.key.map(field => storedName(columns, field)!)
  const usualTables = table === undefined ? [] : [{ name: table, key: storedKey }]
  const tables: readonly DatasetTable[] = terms.tables ?? usualTables
  return {
    name,
    description,
    example,
    columns: inFiles.map(field => ({
      name: named(field),
      required: columns[field]!.required ?? false,
      description: columns[field]!.description ?? '',
    })),
    key: terms.key.map(named),
    counts: inFiles.filter(field => columns[field]!.isCount).map(named),
    ...(batchMax !== undefined && { batchMax }),
    ...(wide && { wide: { name: named(wide.name), value: named(wide.value) } }),
    tables,
    recordTable: tables.find(({ isNumbered }) => !isNumbered),
    codeColumns: inFiles
      .filter(field => columns[field]!.isSeries || columns[field]!.isCode)
      .map(named),
    feature: terms.feature,
    revisions:
      terms.revisions && table !== undefined && terms.time !== undefined
        ? { table, key: storedKey, time: storedName(columns, terms.time)! }
        : undefined,
    stored: Object.fromEntries(inTable.map(field => [field, storedName(columns, field)!])),
    flags: inTable.filter(field => columns[field]!.isFlag),
    keyFields: terms.key,
    numberedBy: terms.numberedBy,
    exported: exportOf(terms, columns),
    ...(terms.checks && { guarded: guardedOf(terms, columns) }),
    check: (row, context) =>
      checked(() => {
        const readers = readersOf<C>(columns, read, row, context)
        return terms.read?.(row, readers, context) ?? (readers.rest({}) as R)
      }),
  }
}

function fileName(columns: Columns, field: string): string | null {
  const { name } = columns[field]!
  return name === undefined ? snakeCase(field) : name
}

function storedName(columns: Columns, field: string): string | null {
  const { stored } = columns[field]!
  return stored === undefined ? snakeCase(field) : stored
}

function exportOf<C extends Columns, R>(
  { table, where, order, key, recordedAt = 't.recorded_at', ...terms }: Terms<C, R>,
  columns: Columns,
): Declared['exported'] {
  const sqlOf = (field: string): string | null => {
    const { exported, isSeries } = columns[field]!
    if (exported !== undefined) return exported
    return isSeries ? 's.code' : `t.${storedName(columns, field)}`
  }
  const series = Object.keys(columns).find(field => columns[field]!.isSeries)
  const join =
    series === undefined ? '' : ` JOIN series s ON s.id = t.${storedName(columns, series)}`
  const from = terms.from ?? `${table} t${join}`
  return {
    columns: [
      ...Object.keys(columns).flatMap(field => {
        const [name, sql] = [fileName(columns, field), sqlOf(field)]
        return name === null || sql === null ? [] : [[name, sql] as const]
      }),
      ['recorded_at', recordedAt],
    ],
    from: where === undefined ? from : `${from} WHERE ${where}`,
    order: order ?? key.map(sqlOf).join(', '),
  }
}

type Values = Readonly<Record<string, unknown>>

function guardedOf<C extends Columns, R>(
  { checks, time, key }: Terms<C, R>,
  columns: Columns,
): GuardedDataset {
  const named = (field: string) => fileName(columns, field)!
  const guardedColumns = Object.entries<GuardedColumn | undefined>(checks!.columns)
  const line = checks!.line ?? key.filter(field => field !== time)
  const writtenIn = (record: Values, field: string): string | number => {
    const { written } = columns[field]!
    const value = record[field]
    return written ? written(value, record) : (value as string | number)
  }
  const fieldsOf = <T>(fields: readonly string[], of: (field: string) => T): Record<string, T> =>
    Object.fromEntries(fields.map(field => [named(field), of(field)]))
  return {
    cadence: checks!.cadence,
    time: named(time!),
    columns: Object.fromEntries(guardedColumns.map(([field, column]) => [named(field), column!])),
    numbersOf: (read, codeOf) =>
      ([read].flat() as Values[]).map(record => ({
        line: fieldsOf(line, field =>
          columns[field]!.isSeries && !columns[field]!.written
            ? codeOf(record[field] as number)
            : String(writtenIn(record, field)),
        ),
        time: writtenIn(record, time!),
        values: fieldsOf(
          guardedColumns.map(([field]) => field),
          field => record[field] as number | null,
        ),
      })),
  }
}

function readersOf<C>(
  columns: Columns,
  fields: readonly string[],
  row: DatasetRow,
  context: RowContext,
): FieldReaders<C> {
  const readers = Object.fromEntries(
    Object.entries(columns).map(([field, { read }]) => [
      field,
      () => read!(row, fileName(columns, field)!, context),
    ]),
  )
  const others = (own: object) => fields.filter(field => !Object.hasOwn(own, field))
  const rest = (own: object) => ({
    ...own,
    ...Object.fromEntries(others(own).map(field => [field, readers[field]!()])),
  })
  return { ...readers, rest } as FieldReaders<C>
}
