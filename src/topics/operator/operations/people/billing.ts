import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { body, moment, noBody, optional, text, whole } from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { idParameter, parsed } from '../../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import { notFound } from '../../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../../http/problem/shape.ts'
import { type InvoiceStatus, invoiceStatuses } from '../../../../plans/billing/invoice.ts'
import { resultOf } from '../../../billing/operations/form.ts'
import { InvoiceShape, invoiceRow } from '../../../billing/operations/row.ts'
import type { Invoice } from '../../../billing/store/invoices.ts'
import type { Keyring } from '../../../keys/service/keyring.ts'
import { accountField } from './account-field.ts'

const operator = { operator: 'people' } as const
const centsMax = 1_000_000_000_000
const descriptionMax = 200
export const LedgerInvoice = t.object('LedgerInvoice', {
  ...InvoiceShape.properties,
  account_id: t.String(),
  subscription_id: t.orNull(t.String()),
  billed_to: t.String({ examples: ['eval@example.com'] }),
  due_at: t.String({ format: 'date-time' }),
  paid_at: t.instantOrNull('When it was paid.'),
  attempt_count: t.integer('Number of payment attempts.'),
  next_attempt_at: t.instantOrNull('Next payment attempt.'),
  last_error: t.orNull(t.String()),
  provider: t.String({ examples: ['manual'] }),
  lines: t.Array(t.Object({ description: t.String(), amount: t.integer('In cents.') })),
})
export type LedgerInvoice = (typeof LedgerInvoice)['static']
const One = envelopeOf({ invoice: LedgerInvoice })
const params = { id: t.string('Id of the invoice.', '00000000-0000-4000-8000-000000000901') }

const rowOf = (invoice: Invoice, baseUrl: string): LedgerInvoice =>
  answerRow(LedgerInvoice, invoice, {
    ...invoiceRow(invoice, baseUrl),
    attempt_count: invoice.attempts,
    lines: invoice.lines.map(line => ({ description: line.description, amount: line.amountCents })),
  })

/** The operator's ledger: invoices, and whether they are paid. */
export const billingAdminOperations: Operations = [ledger, marking]

const createInvoiceBody = (keys: Keyring) =>
  body({
    account: accountField(keys),
    description: text(descriptionMax, { examples: ['Futures Data, November'] }),
    amount: whole(1, centsMax, { description: 'In cents.', examples: [4900] }),
    period_start: optional(moment()),
    period_end: optional(moment()),
  })

function ledger({ billing, keys, links, now }: Context) {
  const invoiceBody = createInvoiceBody(keys)
  return [
    operation('GET /admin/v1/invoices', {
      operationId: 'listAccountInvoices',
      summary: 'List invoices of all accounts',
      description: 'Returns the invoices of all accounts, newest first.',
      access: operator,
      page: { max: 100 },
      query: {
        status: parsed.word(invoiceStatuses, 'Only invoices with this status.', 'open'),
        account: idParameter('Id of an account.', '00000000-0000-4000-8000-000000000001'),
      },
      answers: envelopeOf({ invoices: t.Array(LedgerInvoice), meta: PageMetaShape }),
      handle: ({ query, request, page }) => {
        const { status } = query
        const filter = { accountId: query.account || undefined, status }
        const { baseUrl } = links(request)
        const rows = billing.invoices.page(filter, page.perPage, page.offset)
        return success({
          invoices: rows.map(row => rowOf(row, baseUrl)),
          meta: page.meta(billing.invoices.count(filter)),
        })
      },
    }),
    operation('GET /admin/v1/invoices/:id', {
      operationId: 'getAccountInvoice',
      summary: 'Get an invoice of any account',
      description: 'Returns the invoice with its lines and payment status.',
      access: operator,
      params,
      answers: One,
      handle: ({ params: { id }, request }) => {
        const invoice = billing.invoices.byId(id)
        if (!invoice) throw notFound('invoice', id)
        return success({ invoice: rowOf(invoice, links(request).baseUrl) })
      },
    }),
    operation('POST /admin/v1/invoices', {
      operationId: 'issueInvoice',
      creates: '/admin/v1/invoices/:id',
      summary: 'Issue an invoice',
      description:
        "Issues a one-off invoice, for example for an add-on, with the next invoice number, and notifies the account. It does not affect the account's plan.",
      access: operator,
      idempotent: true,
      body: invoiceBody.schema,
      answers: { 201: One },
      handle: ({ body, request }) => {
        const issuedAt = now()
        const { account, description, amount, period_start, period_end } = invoiceBody.read(
          body,
          (form, { period_start: startsAt = issuedAt, period_end: endsAt = startsAt }) => {
            if (endsAt < startsAt) form.fault('period_end', 'must not be before period_start.')
          },
        )
        const startsAt = period_start ?? issuedAt
        const endsAt = period_end ?? startsAt
        const invoice = billing.ledger.issue(account, {
          description,
          amountCents: amount,
          startsAt,
          endsAt,
        })
        return success({ invoice: rowOf(invoice, links(request).baseUrl) })
      },
    }),
  ]
}

const marks = { pay: 'paid', void: 'void', write_off: 'uncollectible' } as const satisfies Record<
  string,
  InvoiceStatus
>

function marking({ billing, links }: Context) {
  const mark = (
    action: keyof typeof marks,
    { params: { id }, request }: { params: { id: string }; request: Request },
  ) => {
    const invoice = billing.invoices.byId(id)
    if (!invoice) throw notFound('invoice', id)
    return success({
      invoice: rowOf(resultOf(billing.ledger.mark(invoice, marks[action])), links(request).baseUrl),
    })
  }
  const route = (operationId: string, summary: string, description: string) => ({
    operationId,
    summary,
    description,
    access: operator,
    idempotent: true as const,
    params,
    body: noBody,
    answers: { 200: One, 404: NestedProblem, 422: ValidationProblem },
  })
  const closed =
    'Settled invoices and invoices collected by a payment processor cannot be changed (422 `invoice_closed`).'
  return [
    operation('POST /admin/v1/invoices/:id/pay', {
      ...route(
        'markInvoicePaid',
        'Mark an invoice as paid',
        `Marks the invoice as paid: bought credits are added, and a past-due subscription becomes active again. Written-off invoices can be marked as paid. ${closed}`,
      ),
      handle: call => mark('pay', call),
    }),
    operation('POST /admin/v1/invoices/:id/void', {
      ...route(
        'voidInvoice',
        'Void an invoice',
        `Voids an invoice that was issued in error; it is no longer owed. ${closed}`,
      ),
      handle: call => mark('void', call),
    }),
    operation('POST /admin/v1/invoices/:id/write_off', {
      ...route(
        'writeOffInvoice',
        'Write off an invoice',
        `Writes off an invoice that is owed and will not be paid. ${closed}`,
      ),
      handle: call => mark('write_off', call),
    }),
  ]
}
