import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import {
  body,
  checked,
  field,
  noBody,
  requiredAs,
  text,
} from '../../../../http/input/body-schema.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import { refusedField } from '../../../../http/problem/problem.ts'
import { ValidationProblem } from '../../../../http/problem/shape.ts'
import { phoneNumberOf } from '../../../../lib/text/phone-number.ts'
import { plainAddress } from '../../../../send/messages/mailer.ts'

const operator = { operator: 'service' } as const
const addressMax = 254
const urlMax = 2048
const notAnAddress = 'must be an e-mail address.'

const trialFields = {
  taken: t.boolean('Whether the recipient accepted it.'),
  status_code: t.orNull(t.integer({ examples: [250] }), 'Response of the recipient, if any.'),
  message: t.string('Summary for the operator.'),
}
const Trial = t.object('Trial', trialFields)
const Tried = envelope(Trial)
export type Tried = (typeof Tried)['static']
const HookTried = envelope(
  t.object('WebhookTrial', {
    ...trialFields,
    duration_ms: t.integer({ examples: [84] }),
    secret: t.string('The secret that signed this test event only.'),
  }),
)
const MailBody = body({
  to: requiredAs(
    field(t.String({ maxLength: addressMax, examples: ['you@example.com'] }), (form, name) => {
      const written = form.text(name, addressMax)
      if (written === undefined) return undefined
      return plainAddress(written) ?? form.fault(name, notAnAddress)
    }),
    notAnAddress,
  ),
})
const TextBody = body({
  to: text(34, { description: 'In E.164.', examples: ['+15550100002'] }),
})
const words = (what: string) =>
  `${what} immediately, bypassing the outbox, and returns the recipient's response: 200 whatever the outcome.`

/** Tests of every delivery channel. */
export const trialOperations: Operations = [people, hook]

function people({ trials }: Context) {
  const common = { access: operator, idempotent: true } as const
  return [
    operation('POST /admin/v1/mail/test', {
      operationId: 'testMail',
      summary: 'Send a test e-mail',
      description: words('Sends an e-mail'),
      ...common,
      body: MailBody.schema,
      answers: Tried,
      prepare: ({ body }) => trials.mail(MailBody.read(body).to),
      handle: ({ prepared }) => success(answerRow(Trial, prepared, {})),
    }),
    operation('POST /admin/v1/sms/test', {
      operationId: 'testSms',
      summary: 'Send a test text message to any number',
      description: words('Sends a text message'),
      ...common,
      body: TextBody.schema,
      answers: Tried,
      prepare: async ({ body }) => {
        const { to } = TextBody.read(body)
        const number = (await phoneNumberOf(to, undefined))?.number
        if (number === undefined)
          throw refusedField(
            'to',
            'to must be a phone number in international form, such as +15550100002.',
            to,
          )
        return trials.text(number)
      },
      handle: ({ prepared }) => success(answerRow(Trial, prepared, {})),
    }),
    operation('POST /admin/v1/notices/test', {
      operationId: 'testNotice',
      summary: 'Send a test notice',
      description: words('Posts a notice to `notices.url`'),
      ...common,
      body: noBody,
      answers: { 200: Tried, 422: ValidationProblem },
      prepare: () => trials.notice(),
      handle: ({ prepared }) => success(answerRow(Trial, prepared, {})),
    }),
  ]
}

function hook({ webhookTrial, checkTarget }: Context) {
  const HookBody = body({
    url: checked(
      text(urlMax, {
        description: 'A public https URL; `egress.allow` can permit others.',
        examples: ['https://hooks.example.com/events'],
      }),
      checkTarget,
    ),
  })
  return [
    operation('POST /admin/v1/webhooks/test', {
      operationId: 'testWebhookAddress',
      summary: 'Send a test event to an address',
      description: `${words('Posts a signed event of the type `webhook.test`')} The URL is validated like those of accounts.`,
      access: operator,
      idempotent: true,
      body: HookBody.schema,
      answers: HookTried,
      prepare: ({ body }) => webhookTrial(HookBody.read(body).url),
      handle: ({ prepared: { outcome, secret } }) =>
        success({
          taken: outcome.state === 'delivered',
          status_code: outcome.statusCode ?? null,
          message: outcome.error ?? 'The event was accepted.',
          duration_ms: Math.round(outcome.durationMs),
          secret,
        }),
    }),
  ]
}
