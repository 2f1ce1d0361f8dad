import { isObject } from '../../lib/text/json.ts'
import { actionOf } from '../../plans/roles/roles.ts'
import type { NewAuditEntry } from '../../topics/operator/store/audit.ts'
import type { KeyAccess, OperatorAccess } from './access-kind.ts'

/** The entry of an admitted request in the audit trail. */
export type AuditedAction = Omit<NewAuditEntry, 'outcome'>

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
] as const

/** The same as JSON; undefined where a response has none of the fields. */
export function detailsOf(answer: unknown): string | undefined {
  if (!isObject(answer)) return undefined
  const data = isObject(answer.data) ? answer.data : answer
  const inner = Object.values(data).filter(isObject)
  const details: Record<string, string | number> = {}
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
  return Object.keys(details).length === 0 ? undefined : JSON.stringify(details)
}

const valueMax = 100
const codesMax = 5_000
