import type { CountryCode } from 'libphonenumber-js/max'

export interface PhoneNumber {
  /** E.164. */
  number: string
  /**
   * ISO 3166 alpha-2 code; undefined where several countries share the calling code and the number
   * fits more than one of them.
   */
  region: string | undefined
  /** Whether the number has the calling code of the country that it was parsed for. */
  domestic: boolean
  /** Anyone who writes to it pays more than for other numbers. */
  premium: boolean
}

const written = /^\+?[\d\s().-]{4,32}$/

/**
 * Parses a number in the notation of a country, or in international form. Undefined when no such
 * number can exist; whether this one does is not checked, because numbering plans change too often.
 */
export async function phoneNumberOf(
  text: string,
  country: string | undefined,
): Promise<PhoneNumber | undefined> {
  if (!written.test(text.trim())) return undefined
  // Every country's plan is in the library: it is read when it is first needed.
  const { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } = await import(
    'libphonenumber-js/max'
  )
  const home =
    country !== undefined && isSupportedCountry(country) ? (country as CountryCode) : undefined
  const phoneNumber = parsePhoneNumberFromString(text, {
    ...(home && { defaultCountry: home }),
    extract: false,
  })
  if (!phoneNumber?.isPossible()) return undefined
  const type = phoneNumber.getType()
  return {
    number: phoneNumber.number,
    region: phoneNumber.country,
    domestic: home !== undefined && getCountryCallingCode(home) === phoneNumber.countryCallingCode,
    premium: type === 'PREMIUM_RATE' || type === 'SHARED_COST',
  }
}
