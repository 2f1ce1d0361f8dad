import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/gate.ts'
import { notFound } from '../../../http/problem/problem.ts'
import type { Webhooks } from '../service/webhooks.ts'
import type { Endpoint } from '../store/webhooks.ts'

export const webhookAccess = { feature: 'webhooks', meter: true } as const
export const webhookWrite = { ...webhookAccess, header: true } as const
export const webhookParams = t.Object({
  id: t.string('Id of the endpoint.', '00000000-0000-4000-8000-000000000401'),
})

/** An endpoint of the caller's account; unknown, malformed and foreign ids look the same. */
export function ownEndpoint(
  webhooks: Pick<Webhooks, 'byId'>,
  id: string,
  { key }: Caller,
): Endpoint {
  const endpoint = webhooks.byId(id)
  if (endpoint?.accountId !== key.account.account.id) throw notFound('webhook endpoint', id)
  return endpoint
}
