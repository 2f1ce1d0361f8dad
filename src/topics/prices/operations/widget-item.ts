import { t } from 'elysia'
import { object } from '../../../http/answer/schema.ts'
import { priceRowFields } from './row.ts'

/** One price as a widget shows it. */
export const WidgetItem = object('WidgetItem', {
  code: priceRowFields.code,
  name: priceRowFields.name,
  price: priceRowFields.price,
  formatted: priceRowFields.formatted,
  currency: priceRowFields.currency,
  unit: priceRowFields.unit,
  change_24h: t.Union([t.Number({ examples: [-0.52] }), t.Null()]),
  change_24h_percent: t.Union([t.Number({ examples: [-0.73] }), t.Null()]),
  direction: t.Union([t.Literal('up'), t.Literal('down'), t.Literal('flat')]),
  updated_at: priceRowFields.updated_at,
})
export type WidgetItem = (typeof WidgetItem)['static']
