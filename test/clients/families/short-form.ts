import { isFields } from '../../support/fields.ts'

/**
 * The short form in which the result types of clients are written down: `s` text, `n` number, `int`
 * whole number, `b` truth, `map` any object, `any` anything, `X[]` a list, `{a:s, b?:n}` fields, of
 * which `?` may be absent but not null, `{*:X}` keys that are not fixed, `x/null` alternatives,
 * `"a"/"b"` words, and names of records. `filled:X[]` is a list that has items, and
 * `without:name` among fields a field that must not be there.
 */
export type Type =
  | { kind: 'word'; name: string }
  | { kind: 'text'; text: string }
  | { kind: 'list'; of: Type; isFilled?: boolean }
  | { kind: 'map'; of: Type }
  | { kind: 'either'; types: Type[] }
  | { kind: 'fields'; fields: { name: string; isOptional: boolean; type: Type }[] }

export type Records = Readonly<Record<string, Type>>

/** Reads a type; throws where it is not written in the short form. */
export function parseType(text: string): Type {
  let at = 0
  const fail = (): never => {
    throw new Error(`the short form is not understood at ${text.slice(at, at + 30)}`)
  }
  const skip = () => {
    while (text[at] === ' ') at += 1
  }
  const take = (mark: string): boolean => {
    skip()
    if (!text.startsWith(mark, at)) return false
    at += mark.length
    return true
  }
  const word = (): string => {
    skip()
    const [found] = /^\w+/.exec(text.slice(at)) ?? []
    if (found === undefined) return fail()
    at += found.length
    return found
  }
  const fields = (): Type => {
    const read: { name: string; isOptional: boolean; type: Type }[] = []
    while (!take('}')) {
      if (take('…')) {
        // Further fields do no harm.
      } else if (take('*')) {
        if (!take(':')) fail()
        const of = either()
        if (!take('}')) fail()
        return { kind: 'map', of }
      } else if (take('without:')) {
        read.push({ name: word(), isOptional: true, type: { kind: 'word', name: 'absent' } })
      } else {
        const name = word()
        const isOptional = take('?')
        if (!take(':')) fail()
        read.push({ name, isOptional, type: either() })
      }
      take(',')
    }
    return { kind: 'fields', fields: read }
  }
  const one = (): Type => {
    let type: Type
    if (take('{')) type = fields()
    else if (take('"')) {
      const end = text.indexOf('"', at)
      type = { kind: 'text', text: text.slice(at, end) }
      at = end + 1
    } else type = { kind: 'word', name: word() }
    while (take('[]')) type = { kind: 'list', of: type }
    return type
  }
  const either = (): Type => {
    if (take('filled:')) return { ...(one() as Extract<Type, { kind: 'list' }>), isFilled: true }
    const types = [one()]
    while (take('/')) types.push(one())
    return types.length === 1 ? types[0]! : { kind: 'either', types }
  }
  const type = either()
  skip()
  return at === text.length ? type : fail()
}

const words: Readonly<Record<string, (value: unknown) => boolean>> = {
  s: value => typeof value === 'string',
  n: value => typeof value === 'number',
  int: value => Number.isInteger(value),
  b: value => typeof value === 'boolean',
  map: isFields,
  any: () => true,
  null: value => value === null,
  absent: () => false,
}

const shown = (value: unknown): string =>
  Array.isArray(value) ? 'list' : isFields(value) ? 'object' : (JSON.stringify(value) ?? 'missing')

/** The differences of a value from a type, each with its place; empty where it fits. */
export function differences(
  value: unknown,
  type: Type,
  records: Records = {},
  place = 'body',
): string[] {
  switch (type.kind) {
    case 'word': {
      const record = records[type.name]
      if (record) return differences(value, record, records, place)
      const fits = words[type.name]
      if (!fits) throw new Error(`${type.name} is not a word of the short form`)
      return fits(value) ? [] : [`${place}: ${shown(value)}`]
    }
    case 'text':
      return value === type.text ? [] : [`${place}: ${shown(value)}`]
    case 'either': {
      const found = type.types.map(choice => differences(value, choice, records, place))
      return found.find(list => list.length === 0) ?? found.sort((a, b) => a.length - b.length)[0]!
    }
    case 'list':
      if (!Array.isArray(value)) return [`${place}: ${shown(value)}`]
      if (type.isFilled && value.length === 0) return [`${place}: empty`]
      return value.flatMap(item => differences(item, type.of, records, `${place}[]`))
    case 'map':
      if (!isFields(value)) return [`${place}: ${shown(value)}`]
      return Object.entries(value).flatMap(([name, item]) =>
        differences(item, type.of, records, `${place}.${name}`),
      )
    case 'fields':
      if (!isFields(value)) return [`${place}: ${shown(value)}`]
      return type.fields.flatMap(({ name, isOptional, type: inner }) => {
        if (value[name] === undefined) return isOptional ? [] : [`${place}.${name}: missing`]
        return differences(value[name], inner, records, `${place}.${name}`)
      })
  }
}
