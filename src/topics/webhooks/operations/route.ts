import { t } from '../../../http/answer/schema.ts'
import { owned } from '../../../http/gate/owned.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import type { Webhooks } from '../service/webhooks.ts'

export const webhookAccess = { feature: 'webhooks', meter: true } as const
export const webhookWrite = { ...webhookAccess, header: true } as const
export const webhookParams = t.Object({
  id: t.string('Id of the endpoint.', '00000000-0000-4000-8000-000000000401'),
})

export const ownEndpoint = (webhooks: Pick<Webhooks, 'byId'>, id: string, caller: Caller) =>
  owned(webhooks.byId(id), caller, 'webhook endpoint', id)
