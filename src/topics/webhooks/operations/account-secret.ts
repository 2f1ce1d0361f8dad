import { t } from '../../../http/answer/schema.ts'
import { noBody } from '../../../http/input/body-schema.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { OpenSecret } from '../service/account-secrets.ts'

const Secret = envelopeOf({
  secret: t.string('`whsec_` and 48 hexadecimal characters.'),
  created_at: t.String({ format: 'date-time' }),
})
const access = { meter: false, header: true, action: 'read_secrets' } as const
const response = { 200: Secret }
const row = ({ secret, createdAt }: OpenSecret) =>
  success({ secret, created_at: isoInstant(createdAt) })

/** The secret of the account's deliveries that go to none of its endpoints. */
export const accountSecretOperations = [
  operation('GET /v1/account/webhook-secret', {
    operationId: 'getAccountWebhookSecret',
    summary: "Get the account's webhook secret",
    description:
      "Returns the secret that signs requests to an alert's `webhook_url`, unless it is one of the account's endpoints; each endpoint has its own secret.",
    tags: ['Account'],
    access,
    answers: response,
    handle: ({ at, caller }) => row(at.accountSecrets.current(caller.key.account.account.id)),
  }),
  operation('POST /v1/account/webhook-secret/roll', {
    operationId: 'rotateAccountWebhookSecret',
    summary: "Rotate the account's webhook secret",
    description: 'Replaces the secret and returns the new one. The old secret is no longer used.',
    tags: ['Account'],
    access,
    idempotent: true,
    body: noBody,
    answers: response,
    handle: ({ at, caller }) => row(at.accountSecrets.roll(caller.key.account.account.id)),
  }),
]
