import { redact } from '../../lib/log/log.ts'
import { isObject } from '../../lib/text/json.ts'
import { actionOf } from '../../plans/roles/roles.ts'
import type { NewAuditEntry } from '../../topics/operator/store/audit.ts'
import type { KnownFields } from '../input/ignored-fields.ts'
import type { KeyAccess, OperatorAccess } from './access-kind.ts'

/** The entry of an admitted request in the audit trail. */
export interface AuditedAction extends Omit<NewAuditEntry, 'outcome'> {
  /** The fields that an operator sent, each with its value before and after. */
  changes?: Details
}

type Details = Record<string, string | number>

const isReadMethod = (method: string): boolean => method === 'GET' || method === 'HEAD'

/** Whether the operator's request changes something. */
export const changesByOperator = (access: OperatorAccess, method: string): boolean =>
  access.readsOnly !== true && !isReadMethod(method)

/** Whether a request with a key changes something: routes that only read may take a POST. */
export const changesData = (access: KeyAccess, method: string): boolean =>
  !isReadMethod(method) && access.action !== 'read'

/** Whether a request with a key changes something, or reads a secret. */
export function isAudited(access: KeyAccess, method: string): boolean {
  const action = access.action ?? actionOf(method)
  return (
    access.unaudited !== true &&
    (isReadMethod(method) ? action === 'read_secrets' : action !== 'read')
  )
}

/**
 * Path and route of a request; never its query or its body, which may hold secrets, nor an address
 * in the path: entries outlast the accounts of people.
 */
export const whatOf = (request: Request, route: string) => ({
  action: `${request.method} ${route}`,
  thing: new URL(request.url).pathname
    .split('/')
    .map(segment => (/@|%40/.test(segment) ? '(address)' : segment))
    .join('/')
    .slice(0, thingMax),
})

const thingMax = 300

/** Fields of a response that identify the created or changed record; none is secret or personal. */
const identifying = [
  'id',
  'code',
  'observed_at',
  'batch',
  'plan',
  'requests',
  'role',
  'inserted',
  'revised',
  'removed',
  'held',
  'before',
  'after',
] as const

/** They and the changes as JSON; undefined where there are none. */
export function detailsOf(answer: unknown, changes: Details = {}): string | undefined {
  const details = { ...identified(answer), ...changes }
  return Object.keys(details).length === 0 ? undefined : JSON.stringify(details)
}

function identified(answer: unknown): Details {
  if (!isObject(answer)) return {}
  const data = isObject(answer.data) ? answer.data : answer
  const inner = Object.values(data).filter(isObject)
  const details: Details = {}
  for (const part of inner.length === 0 ? [data] : [data, inner[0]!])
    for (const name of identifying) {
      const value = part[name]
      if (typeof value === 'string' || typeof value === 'number')
        details[name] = typeof value === 'string' ? value.slice(0, valueMax) : value
    }
  // Only codes of this list, because a field named code may be a secret in other responses.
  if (Array.isArray(data.series)) {
    const codes = data.series.filter(isObject).map(({ code }) => String(code))
    details.codes = codes.join(' ').slice(0, codesMax)
    details.added = codes.length
  }
  return details
}

/** Fields whose values are secret or personal: entries outlast the accounts of people. */
const unrecorded =
  /password|passphrase|token|secret|key|credential|private|pin$|e?mail|phone|address|recipient|url/i
/** An address or a phone number, in any text. */
const personal = /@|\+\d[\d ()-]{7,}/
const fieldsMax = 40

/**
 * The known fields of a body with their new values, and with the earlier ones where the resource has
 * them: others change nothing. Lists of objects are data and no fields of a change.
 */
export function changesOf(body: unknown, before: unknown, known: KnownFields): Details {
  const changes: Details = {}
  const note = (path: string, sent: unknown, earlier: unknown, fields: KnownFields) => {
    if (isObject(sent)) {
      for (const [name, value] of Object.entries(sent)) {
        const inner = fields === 'any' ? fields : fields.get(name)
        if (inner)
          note(path === '' ? name : `${path}.${name}`, value, fieldOf(earlier, name), inner)
      }
      return
    }
    const isData = Array.isArray(sent) && sent.some(isObject)
    const isSame = JSON.stringify(sent) === JSON.stringify(earlier)
    if (path === '' || isData || isSame || Object.keys(changes).length === fieldsMax) return
    const [from, to] = [recorded(path, earlier), recorded(path, sent)]
    changes[path] = earlier === undefined || from === to ? to : `${from} → ${to}`
  }
  note('', body, before, known)
  return changes
}

const recorded = (path: string, value: unknown): string | number => {
  if (isObject(value) || unrecorded.test(path)) return '(not recorded)'
  if (typeof value === 'number') return value
  const text = redact(Array.isArray(value) ? value.join(' ') : String(value))
  return personal.test(text) ? '(not recorded)' : text.slice(0, valueMax)
}

/** The value of a field of an answer, at its top or in an object within it. */
export function fieldOf(answer: unknown, name: string): unknown {
  if (!isObject(answer)) return undefined
  return (
    answer[name] ??
    Object.values(answer).reduce<unknown>(
      (found, inner) => found ?? fieldOf(inner, name),
      undefined,
    )
  )
}

const valueMax = 100
const codesMax = 5_000
