/** `releaseLagDays` as `release_lag_days`. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** `release_lag_days` as `releaseLagDays`. */
export const camelCase = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The same of the type of a name. */
export type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name

/** The fields that have a value, under their names in camel case. */
export const camelFields = <T extends object>(fields: T) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[camelCase(name), value]],
    ),
  ) as { [Name in keyof T as Camel<Name & string>]?: Exclude<T[Name], undefined> }
