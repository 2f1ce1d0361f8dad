import { t } from 'elysia'
import { integer } from '../../../../http/answer/integer.ts'
import { idempotencyHeader, type Repeatable } from '../../../../http/idempotency.ts'
import { body, moment, optional, text, whole } from '../../../../http/input/body-schema.ts'
import { PageMetaShape, pageMeta, pageOf, pageQuery } from '../../../../http/input/page.ts'
import { idParameter, wordParameter } from '../../../../http/input/typed.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { invalidParameter, notFound } from '../../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../../http/problem/shape.ts'
import { RouteList } from '../../../../http/route-list.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import { type InvoiceStatus, invoiceStatuses } from '../../../../plans/invoice.ts'
import { resultOf } from '../../../billing/operations/form.ts'
import { InvoiceShape, invoiceRow } from '../../../billing/operations/row.ts'
import type { Invoice } from '../../../billing/store/invoices.ts'
import { instantOrNull, isoOrNull } from '../../../keys/operations/row.ts'
import type { Keyring } from '../../../keys/service/keyring.ts'
import { accountField } from './account-field.ts'

export type AdminBillingDeps = Pick<
  Context,
  'access' | 'billing' | 'idempotency' | 'keys' | 'links' | 'now'
>

const operator = { operator: 'people' } as const
const perPageMax = 100
const centsMax = 1_000_000_000_000
const descriptionMax = 200
const LedgerInvoice = t.Object(
  {
    ...InvoiceShape.properties,
    account_id: t.String(),
    subscription_id: t.Union([t.String(), t.Null()]),
    billed_to: t.String({ examples: ['eval@example.com'] }),
    due_at: t.String({ format: 'date-time' }),
    paid_at: instantOrNull('When it was paid.'),
    attempt_count: integer({ description: 'Payments that were tried.' }),
    next_attempt_at: instantOrNull('When the payment is tried again.'),
    last_error: t.Union([t.String(), t.Null()]),
    provider: t.String({ examples: ['manual'] }),
    lines: t.Array(
      t.Object({ description: t.String(), amount: integer({ description: 'In cents.' }) }),
    ),
  },
  { title: 'LedgerInvoice' },
)
const One = envelope(t.Object({ invoice: LedgerInvoice }))
const params = t.Object({
  id: t.String({
    description: 'Id of the invoice.',
    examples: ['00000000-0000-4000-8000-000000000901'],
  }),
})

const rowOf = (invoice: Invoice, baseUrl: string): (typeof LedgerInvoice)['static'] => ({
  ...invoiceRow(invoice, baseUrl),
  account_id: invoice.accountId,
  subscription_id: invoice.subscriptionId,
  billed_to: invoice.billedTo,
  due_at: isoInstant(invoice.dueAt),
  paid_at: isoOrNull(invoice.paidAt),
  attempt_count: invoice.attempts,
  next_attempt_at: isoOrNull(invoice.nextAttemptAt),
  last_error: invoice.lastError,
  provider: invoice.provider,
  lines: invoice.lines.map(line => ({ description: line.description, amount: line.amountCents })),
})

/** The operator's ledger: invoices, and whether they are paid. */
export const billingAdminRoutes = (deps: AdminBillingDeps) =>
  new RouteList({ tags: ['operator'] }).use(ledger(deps)).use(marking(deps))

const createInvoiceBody = (keys: Keyring) =>
  body({
    account: accountField(keys),
    description: text(descriptionMax, { examples: ['Futures Data, November'] }),
    amount: whole(1, centsMax, { description: 'In cents.', examples: [4900] }),
    period_start: optional(moment()),
    period_end: optional(moment()),
  })

function ledger({ access, idempotency, billing, keys, links, now }: AdminBillingDeps) {
  const invoiceBody = createInvoiceBody(keys)
  return new RouteList()
    .use(access)
    .get(
      '/admin/v1/invoices',
      ({ query, request }) => {
        const page = pageOf(query, perPageMax)
        const status = query.status
          ? invoiceStatuses.find(name => name === query.status)
          : undefined
        if (query.status && !status)
          throw invalidParameter(
            'status',
            query.status,
            `is not one of ${invoiceStatuses.join(', ')}.`,
            invoiceStatuses,
          )
        const filter = { accountId: query.account || undefined, status }
        const { baseUrl } = links(request)
        const rows = billing.invoices.page(filter, page.perPage, (page.page - 1) * page.perPage)
        return success({
          invoices: rows.map(row => rowOf(row, baseUrl)),
          meta: pageMeta(page, billing.invoices.count(filter)),
        })
      },
      {
        access: operator,
        query: t.Object({
          status: wordParameter(invoiceStatuses, {
            description: 'Only those that are so.',
            examples: ['open'],
          }),
          account: idParameter({
            description: 'Id of an account.',
            examples: ['00000000-0000-4000-8000-000000000001'],
          }),
          ...pageQuery(perPageMax),
        }),
        response: {
          200: envelope(t.Object({ invoices: t.Array(LedgerInvoice), meta: PageMetaShape })),
          400: NestedProblem,
        },
        detail: {
          operationId: 'listLedger',
          summary: 'Invoices of all accounts',
          description: 'Every invoice, the newest first.',
        },
      },
    )
    .get(
      '/admin/v1/invoices/:id',
      ({ params: { id }, request }) => {
        const invoice = billing.invoices.byId(id)
        if (!invoice) throw notFound('The invoice')
        return success({ invoice: rowOf(invoice, links(request).baseUrl) })
      },
      {
        access: operator,
        params,
        response: { 200: One, 404: NestedProblem },
        detail: {
          operationId: 'getLedgerInvoice',
          summary: 'Get an invoice of any account',
          description: 'Returns the invoice with its lines and what became of its payment.',
        },
      },
    )
    .post(
      '/admin/v1/invoices',
      ({ body, pass, request, set }) =>
        idempotency.once({ pass, request, set }, body, () => {
          const issuedAt = now()
          const { account, description, amount, period_start, period_end } = invoiceBody.read(
            body,
            (form, { period_start: startsAt = issuedAt, period_end: endsAt = startsAt }) => {
              if (endsAt < startsAt) form.fault('period_end', 'must not be before period_start.')
            },
          )
          const startsAt = period_start ?? issuedAt
          const endsAt = period_end ?? startsAt
          set.status = 201
          const invoice = billing.ledger.issue(account, {
            description,
            amountCents: amount,
            startsAt,
            endsAt,
          })
          return success({ invoice: rowOf(invoice, links(request).baseUrl) })
        }),
      {
        access: operator,
        headers: idempotencyHeader,
        body: invoiceBody.schema,
        response: { 201: One, 422: ValidationProblem },
        detail: {
          operationId: 'issueInvoice',
          summary: 'Issue an invoice',
          description:
            'An open invoice for something that is not a plan, such as add-ons; it has the next number, and the account is told. It bears on no plan.',
        },
      },
    )
}

const marks = { pay: 'paid', void: 'void', write_off: 'uncollectible' } as const satisfies Record<
  string,
  InvoiceStatus
>

interface MarkRequest extends Repeatable {
  params: { id: string }
  body: unknown
}

function marking({ access, billing, idempotency, links }: AdminBillingDeps) {
  const mark = (
    deed: keyof typeof marks,
    { params: { id }, body, pass, request, set }: MarkRequest,
  ) =>
    idempotency.once({ pass, request, set }, body, () => {
      const invoice = billing.invoices.byId(id)
      if (!invoice) throw notFound('The invoice')
      return success({
        invoice: rowOf(resultOf(billing.ledger.mark(invoice, marks[deed])), links(request).baseUrl),
      })
    })
  const route = (operationId: string, summary: string, description: string) => ({
    access: operator,
    headers: idempotencyHeader,
    params,
    response: { 200: One, 404: NestedProblem, 422: ValidationProblem },
    detail: {
      operationId,
      summary,
      description,
    },
  })
  const closed =
    'An invoice that is settled, or that a processor takes the money of, stays as it is (422 `invoice_closed`).'
  return new RouteList()
    .use(access)
    .post('/admin/v1/invoices/:id/pay', context => mark('pay', context), {
      ...route(
        'markInvoicePaid',
        'Mark an invoice as paid',
        `The money has come: bought requests are there from now on, and a subscription that was past due is active again. What was given up can be paid after all. ${closed}`,
      ),
    })
    .post('/admin/v1/invoices/:id/void', context => mark('void', context), {
      ...route(
        'voidInvoice',
        'Void an invoice',
        `It should not have been made, and nobody owes it. ${closed}`,
      ),
    })
    .post('/admin/v1/invoices/:id/write_off', context => mark('write_off', context), {
      ...route(
        'writeOffInvoice',
        'Give an invoice up',
        `It is owed and will not be paid. ${closed}`,
      ),
    })
}
