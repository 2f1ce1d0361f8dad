import { t } from 'elysia'
import { formBody, formOf } from '../../http/input/form.ts'
import { type Problem, validationFailed } from '../../http/problem/problem.ts'
import { phoneNumberOf } from '../../lib/phone-number.ts'
import { smsCountries, smsCountryOf } from '../../plan/sms-countries.ts'

const numberCharactersMax = 34

export const phoneBody = formBody(
  t.Object({
    phone_number: t.String({
      description: 'In E.164, or as it is written in the country.',
      examples: ['+15550100002'],
    }),
    country_code: t.String({ description: `One of ${smsCountries.join(', ')}.`, examples: ['US'] }),
  }),
)

export const codeBody = formBody(
  t.Object({
    verification_code: t.String({
      pattern: '^\\d{6}$',
      description: 'From the text message.',
      examples: ['483920'],
    }),
  }),
)

const supported = smsCountries.join(', ')

const notSupported = (field: string, value: string): Problem =>
  validationFailed(
    [
      {
        field,
        message: `${field}: text messages are not sent to this country; the countries are ${supported}.`,
        value,
      },
    ],
    'country_not_supported',
    { supported_countries: smsCountries },
  )

/** The number that a body gives, and its country. */
export async function phoneOf(body: unknown): Promise<{ number: string; country: string }> {
  const form = formOf(body)
  const text = form.text('phone_number', numberCharactersMax)
  if (!form.has('phone_number')) form.fault('phone_number', 'is required.')
  const given = form.text('country_code', 20)?.trim().toUpperCase()
  if (given !== undefined && !/^[A-Z]{2}$/.test(given))
    form.fault('country_code', `must be two letters, one of ${supported}.`)
  form.check()
  if (given !== undefined && smsCountryOf(given) === undefined)
    throw notSupported('country_code', given)

  const found = await phoneNumberOf(text ?? '', given)
  if (!found)
    form.fault(
      'phone_number',
      'must be a phone number, best in international form such as +15550100002.',
    )
  else if (given !== undefined && !found.domestic)
    form.fault('phone_number', `is not a number of ${given}.`)
  else if (found.premium)
    form.fault('phone_number', 'is a number at extra cost; give one of your own.')
  form.check()
  const region = found!.region ?? given
  const country = region === undefined ? undefined : smsCountryOf(region)
  if (country === undefined) throw notSupported('phone_number', found!.number)
  return { number: found!.number, country }
}

/** The code that a body gives, its form checked. */
export function codeOf(body: unknown): string {
  const form = formOf(body)
  const text = form.text('verification_code', 40)?.replace(/[\s-]/g, '')
  if (!form.has('verification_code')) form.fault('verification_code', 'is required.')
  else if (text !== undefined && !/^\d{6}$/.test(text))
    form.fault('verification_code', 'must be the six digits of the message.')
  form.check()
  return text ?? ''
}
