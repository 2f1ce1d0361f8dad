import { redact } from '../../lib/log/log.ts'
import { fieldsOf, isObject } from '../../lib/text/json.ts'
import { isPlain } from '../../lib/text/text.ts'
import { nearestWord, oneOf, shownValue } from '../../lib/text/wrong-value.ts'
import { parseInstant } from '../../lib/time/instant.ts'
import { type FieldFault, refusedField, validationFailed } from '../problem/problem.ts'

/**
 * The fields of a body, read one by one. Faults are collected, so that one response names all of
 * them.
 */
export interface Form {
  /** Whether the body has a field. */
  has(field: string): boolean
  /** Whether a field is null. */
  isNull(field: string): boolean
  /** The unchecked value, for a parser that validates it itself. */
  value(field: string): unknown
  /**
   * Notes what is wrong with a field: a sentence without its subject, which is the field's name. A
   * demand (`must …`) gets the value that was sent; `value` is given if that is only a part of it.
   */
  fault(field: string, why: string, value?: unknown, more?: FaultDetails): undefined
  /** The same for a secret: the refusal does not repeat what was sent. */
  secretFault(field: string, why: string): undefined
  /** Undefined when absent; so also below. */
  text(field: string, charactersMax: number): string | undefined
  flag(field: string): boolean | undefined
  integer(field: string, min: number, max: number): number | undefined
  /** Any finite number of the range, both ends included. */
  number(field: string, min: number, max: number): number | undefined
  choice<T extends string>(field: string, allowed: readonly T[]): T | undefined
  /** Notes that a value, of the field if not given, is not one of the words; names the nearest. */
  wrongWord(field: string, words: readonly string[], value?: unknown): undefined
  /** The names of all fields. */
  names(): string[]
  /** An ISO 8601 time with its zone. */
  moment(field: string): number | undefined
  /** A list without duplicates; `read` answers undefined for a text that is not `what`. */
  list<T extends string>(
    field: string,
    what: ListOf,
    countMax: number,
    read: (text: string) => T | undefined,
  ): T[] | undefined
  /**
   * The fields of an object in a field, whose faults are reported with the others; empty when the
   * object is absent or null.
   */
  part(field: string): Form
  /**
   * The items of a list, or the single value, as fields named by their places: faults name
   * `field.0.name`.
   */
  items(field: string): Form
  /** Throws when there is a fault. */
  check(): void
}

/** Fields of a fault in addition to its message. */
export type FaultDetails = Omit<FieldFault, 'field' | 'message' | 'value'>

/** The items of a list: their name in the plural, and what each must be, or the accepted words. */
export interface ListOf {
  nouns: string
  item: string | readonly string[]
}

const shownCharactersMax = 200

/** Fields whose values are secrets, which no refusal repeats. */
const secretName = /^(?:key|secret|password|token|credentials?)$|_(?:key|secret|password|token)$/

/** An absent body counts as one without fields; anything else that is not an object is refused. */
export function formOf(body: unknown): Form {
  if (body !== undefined && body !== null && !isObject(body)) {
    throw refusedField('body', fieldMessage('body', 'must be a JSON object.', body), shown(body))
  }
  return formWithin(fieldsOf(body), '', [])
}

type Fields = Readonly<Record<string, unknown>>

/** `prefix` stands before the names of fields in faults. */
function formWithin(fields: Fields, prefix: string, faults: FieldFault[]): Form {
  const fieldValue = (field: string) => (Object.hasOwn(fields, field) ? fields[field] : undefined)
  const note = (field: string, why: string, value: unknown, more?: FaultDetails): undefined => {
    faults.push({
      field: prefix + field,
      // A column says where in a long text it is.
      message: fieldMessage(prefix + field, why, more?.column === undefined ? value : undefined),
      value: shown(value),
      ...more,
    })
  }
  const wrongWord: Form['wrongWord'] = (field, words, value = fieldValue(field)) =>
    note(field, `must be ${oneOf(words)}.${meantBy(value, words)}`, value)
  const fault: Form['fault'] = (field, why, value = fieldValue(field), more) =>
    note(field, why, secretName.test(field) ? null : value, more)

  return {
    has: field => fieldValue(field) !== undefined,
    isNull: field => fieldValue(field) === null,
    value: fieldValue,
    fault,
    secretFault: (field, why) => note(field, why, null),
    text(field, charactersMax) {
      const value = fieldValue(field)
      if (value === undefined) return undefined
      if (typeof value !== 'string') return fault(field, 'must be text.')
      if (!isText(value))
        return fault(field, 'must have no unpaired surrogates and no null characters.')
      if ([...value].length > charactersMax)
        return fault(field, `must be at most ${charactersMax} characters long.`)
      return value
    },
    flag(field) {
      const value = fieldValue(field)
      if (value === undefined || typeof value === 'boolean') return value
      return fault(field, 'must be true or false.')
    },
    integer(field, min, max) {
      const value = fieldValue(field)
      if (value === undefined) return undefined
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max)
        return value
      return fault(field, `must be a whole number from ${min} to ${max}.`)
    },
    number(field, min, max) {
      const value = fieldValue(field)
      if (value === undefined) return undefined
      if (typeof value === 'number' && value >= min && value <= max) return value
      return fault(field, `must be a number from ${min} to ${max}.`)
    },
    choice(field, allowed) {
      const value = fieldValue(field)
      if (value === undefined) return undefined
      return allowed.find(word => word === value) ?? wrongWord(field, allowed)
    },
    wrongWord,
    names: () => Object.keys(fields),
    moment(field) {
      const value = fieldValue(field)
      if (value === undefined) return undefined
      const at = typeof value === 'string' ? parseInstant(value) : undefined
      return (
        at ?? fault(field, 'must be an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z.')
      )
    },
    list<T extends string>(
      field: string,
      { nouns, item }: ListOf,
      countMax: number,
      read: (text: string) => T | undefined,
    ) {
      const value = fieldValue(field)
      if (value === undefined) return undefined
      if (!Array.isArray(value)) return fault(field, `must be a list of ${nouns}.`)
      if (value.length > countMax)
        return fault(field, `must be a list of at most ${countMax} ${nouns}.`)
      const items = value.map(item => (isText(item) ? read(item) : undefined))
      const wrong = items.indexOf(undefined)
      if (wrong < 0) return [...new Set(items as T[])]
      return typeof item === 'string'
        ? note(`${field}.${wrong}`, `must be ${item}.`, value[wrong])
        : wrongWord(`${field}.${wrong}`, item, value[wrong])
    },
    part(field) {
      const value = fieldValue(field)
      if (value !== undefined && value !== null && !isObject(value))
        fault(field, 'must be a JSON object.')
      return formWithin(fieldsOf(value), `${prefix}${field}.`, faults)
    },
    items(field) {
      const value = fieldValue(field)
      return formWithin(
        { ...(Array.isArray(value) ? value : [value]) },
        `${prefix}${field}.`,
        faults,
      )
    },
    check() {
      if (faults.length > 0) throw validationFailed(faults)
    },
  }
}

/**
 * The message about a faulty field. A requirement is completed by the value that was sent, as in
 * `value must be above 0; got -1.`
 */
export function fieldMessage(field: string, why: string, value: unknown): string {
  const isComplete = !why.startsWith('must ') || why.includes('; got ')
  if (isComplete || value === undefined || value === null) return `${field} ${why}`
  return `${field} ${why.replace(/\.(?=\s|$)/, () => `; got ${shownValue(shown(value) ?? value)}.`)}`
}

function meantBy(value: unknown, words: readonly string[]): string {
  const near = nearestWord(value, words)
  return near === undefined ? '' : ` Did you mean ${near}?`
}

const isText = (value: unknown): value is string => typeof value === 'string' && isPlain(value)

/** Shortens a value for an error message: enough to recognise it, and never a token. */
function shown(value: unknown): unknown {
  if (typeof value === 'string')
    return redact(value.toWellFormed()).slice(0, shownCharactersMax).toWellFormed()
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}
