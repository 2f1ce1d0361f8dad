import { t } from 'elysia'
import { idempotencyHeader } from '../../../http/idempotency.ts'
import { noBody } from '../../../http/input/body-schema.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { RouteList } from '../../../http/route-list.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { OpenSecret } from '../service/account-secrets.ts'

export type WebhookSecretDeps = Pick<Context, 'access' | 'accountSecrets' | 'idempotency'>

const Secret = envelope(
  t.Object({
    secret: t.String({ description: '`whsec_` and 48 hexadecimal characters.' }),
    created_at: t.String({ format: 'date-time' }),
  }),
)
const access = { meter: false, header: true, action: 'read_secrets' } as const
const response = { 200: Secret }
const row = ({ secret, createdAt }: OpenSecret) =>
  success({ secret, created_at: isoInstant(createdAt) })

/** The secret of the account's deliveries that go to none of its endpoints. */
export const accountSecretRoutes = ({
  access: plugin,
  accountSecrets,
  idempotency,
}: WebhookSecretDeps) =>
  new RouteList()
    .use(plugin)
    .get(
      '/v1/account/webhook-secret',
      ({ caller }) => row(accountSecrets.current(caller.key.account.account.id)),
      {
        access,
        response,
        detail: {
          operationId: 'getAccountWebhookSecret',
          tags: ['account'],
          summary: "The account's webhook secret",
          description:
            "Signs what goes to an alert's `webhook_url` that is none of the account's endpoints; each endpoint has a secret of its own.",
        },
      },
    )
    .post(
      '/v1/account/webhook-secret/roll',
      ({ caller, pass, request, set }) =>
        idempotency.once({ caller, pass, request, set }, undefined, () =>
          row(accountSecrets.roll(caller.key.account.account.id)),
        ),
      {
        access,
        headers: idempotencyHeader,
        body: noBody,
        response,
        detail: {
          operationId: 'rollAccountWebhookSecret',
          tags: ['account'],
          summary: "Roll the account's webhook secret",
          description: 'A new secret; the old one signs nothing from now on.',
        },
      },
    )
