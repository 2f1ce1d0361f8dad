import { body, checked, optional, text } from '../../../http/input/body-schema.ts'
import { formOf } from '../../../http/input/form.ts'
import { type Problem, validationFailed } from '../../../http/problem/problem.ts'
import { phoneNumberOf } from '../../../lib/text/phone-number.ts'
import { smsCountries, smsCountryOf } from '../../../plans/messages/sms-countries.ts'

const numberCharactersMax = 34
const supported = smsCountries.join(', ')

/** A country as it is compared: people write it in any letter case. */
const countryOf = (written: string) => written.trim().toUpperCase()

export const PhoneBody = body({
  phone_number: text(numberCharactersMax, {
    description: 'In E.164 or national format.',
    examples: ['+15550100002'],
  }),
  country_code: optional(
    checked(
      text(20, {
        maxLength: undefined,
        description: `One of ${smsCountries.join(', ')}.`,
        examples: ['US'],
      }),
      written =>
        /^[A-Z]{2}$/.test(countryOf(written))
          ? undefined
          : `must be two letters, one of ${supported}.`,
    ),
  ),
})

/** The digits of a code as people copy it, with blanks or hyphens. */
const digitsOf = (written: string) => written.replace(/[\s-]/g, '')

export const CodeBody = body({
  verification_code: checked(
    text(40, {
      maxLength: undefined,
      pattern: '^\\d{6}$',
      description: 'The code from the text message.',
      examples: ['483920'],
    }),
    written =>
      /^\d{6}$/.test(digitsOf(written)) ? undefined : 'must be the six digits of the text message.',
  ),
})

const notSupported = (field: string, value: string, must: string): Problem =>
  validationFailed(
    [
      {
        field,
        message: `${field} must be ${must} ${supported}; got "${value}".`,
        value,
      },
    ],
    'country_not_supported',
    { supported_countries: smsCountries },
  )

/** The number that a body names, and its country. */
export async function phoneOf(input: unknown): Promise<{ number: string; country: string }> {
  const { phone_number: written, country_code: code } = PhoneBody.read(input)
  const countryCode = code === undefined ? undefined : countryOf(code)
  if (countryCode !== undefined && smsCountryOf(countryCode) === undefined)
    throw notSupported('country_code', countryCode, 'one of')

  const phone = await phoneNumberOf(written, countryCode)
  const form = formOf(input)
  if (!phone)
    form.fault(
      'phone_number',
      'must be a phone number in international form, such as +12125550123, or in national form with country_code.',
    )
  else if (countryCode !== undefined && !phone.domestic)
    form.fault('phone_number', `must be a phone number of ${countryCode}.`)
  else if (phone.premium) form.fault('phone_number', 'must not be a premium-rate number.')
  form.check()
  const region = phone!.region ?? countryCode
  const country = region === undefined ? undefined : smsCountryOf(region)
  if (country === undefined) throw notSupported('phone_number', phone!.number, 'a number of')
  return { number: phone!.number, country }
}

/** The code that a body names. */
export const codeOf = (input: unknown): string => digitsOf(CodeBody.read(input).verification_code)
