/** Countries whose numbers text messages go to. */
export const smsCountries = ['US', 'CA', 'GB', 'AU'] as const
export type SmsCountry = (typeof smsCountries)[number]

/** Listed as coming, and not served. */
export const smsCountriesToCome = ['DE', 'FR'] as const

/** Dependencies that share a country's numbers and its networks. */
const served: Readonly<Record<string, SmsCountry>> = {
  US: 'US',
  CA: 'CA',
  GB: 'GB',
  GG: 'GB',
  JE: 'GB',
  IM: 'GB',
  AU: 'AU',
  CC: 'AU',
  CX: 'AU',
}

/**
 * The served country whose networks a region's numbers belong to; undefined for a region that is
 * not served.
 */
export const smsCountryOf = (region: string): SmsCountry | undefined =>
  Object.hasOwn(served, region) ? served[region] : undefined
