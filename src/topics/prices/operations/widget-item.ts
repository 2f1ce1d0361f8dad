import { t } from '../../../http/answer/schema.ts'
import { priceFields, priceRowFields } from './row.ts'

/** One price as a widget shows it. */
export const WidgetItem = t.object('WidgetItem', {
  ...priceFields('code', 'name', 'price', 'formatted', 'currency', 'unit'),
  change_24h: t.orNull(t.Number({ examples: [-0.52] })),
  change_24h_percent: t.orNull(t.Number({ examples: [-0.73] })),
  direction: t.oneOf(['up', 'down', 'flat']),
  updated_at: priceRowFields.updated_at,
})
export type WidgetItem = (typeof WidgetItem)['static']
