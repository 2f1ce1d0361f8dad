import type { Mood } from '../../parts/bits.tsx'

/** The severity of the state of a delivery. */
export const deliveryMoods: Readonly<Record<string, Mood>> = {
  delivered: 'good',
  failed: 'bad',
  retry_scheduled: 'warn',
}
