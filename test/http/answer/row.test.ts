import { describe, expect, test } from 'bun:test'
import { answerRow } from '../../../src/http/answer/row.ts'
import { t } from '../../../src/http/answer/schema.ts'

const Shape = t.Object({
  id: t.String(),
  account_id: t.String(),
  codes: t.Array(t.String()),
  change_24h: t.orNull(t.Number()),
  created_at: t.String({ format: 'date-time' }),
  revoked_at: t.instantOrNull('When it was revoked.'),
  status: t.oneOf(['active', 'paused']),
  note: t.Optional(t.String()),
})
const record = {
  id: 'a',
  accountId: 'b',
  codes: ['WTI_USD'],
  change24h: undefined,
  createdAt: 0,
  revokedAt: null,
  secret: 'not part of the response',
}

describe('a record as the row of a response', () => {
  test('has the fields of the schema alone, in their order, and instants as text', () => {
    const row = answerRow(Shape, record, { status: 'active' })
    expect(JSON.stringify(row)).toBe(
      JSON.stringify({
        id: 'a',
        account_id: 'b',
        codes: ['WTI_USD'],
        change_24h: null,
        created_at: '1970-01-01T00:00:00Z',
        revoked_at: null,
        status: 'active',
      }),
    )
  })

  test('takes given fields before those of the record, and optional ones only when given', () => {
    const row = answerRow(Shape, record, { status: 'paused', account_id: 'c', note: 'n' })
    expect(row.account_id).toBe('c')
    expect(row.note).toBe('n')
    const sealed = { ...record, note: 'a secret of the record' }
    expect(answerRow(Shape, sealed, { status: 'paused' })).not.toHaveProperty('note')
  })
})
