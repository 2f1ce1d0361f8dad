import { t } from '../../../http/answer/schema.ts'
import {
  body,
  checked,
  choice,
  flag,
  listOf,
  optional,
  text,
} from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { camelFields } from '../../../lib/text/name-case.ts'
import { firstPlan } from '../../../plans/plans.ts'
import { addOnIds, planIds } from '../../../plans/tiers.ts'
import { keyNameField } from '../../keys/operations/form.ts'
import type { AccountChange, NewAccount } from '../../keys/service/key-changes.ts'

export const emailMax = 254
const emailPattern = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u

/** An e-mail address. */
export const emailField = checked(text(emailMax, { examples: ['person@example.com'] }), email =>
  emailPattern.test(email) ? undefined : 'must be an e-mail address.',
)

const changeFields = {
  plan: optional(choice(planIds)),
  add_ons: optional(
    listOf(
      t.oneOf(addOnIds),
      { nouns: 'add-ons', item: addOnIds },
      addOnIds.length,
      text => addOnIds.find(id => id === text),
      { description: 'The complete list of add-ons.' },
    ),
  ),
  trial: optional(
    flag({ description: 'True starts a trial now, false ends the running one. Free plan only.' }),
  ),
  suspended: optional(flag({ description: 'Requests with keys of a suspended account get 403.' })),
  email_confirmed: optional(
    flag({ description: 'Until the address is confirmed, the free quota applies to every plan.' }),
  ),
}

/** The editable fields of an account. */
export const AccountBody = body({ ...changeFields, email: optional(emailField) })

/** A new account. */
export const createNewAccountBody = (nameMax: number) =>
  body({
    email: emailField,
    ...changeFields,
    key_name: keyNameField(nameMax, { description: 'Name of the first key.' }),
  })

type ChangeValues = Partial<ReturnType<typeof AccountBody.read>>

/** `plan` is the one the account is on where the body names none. */
function refuseTrialOnPaidPlan(form: Form, values: ChangeValues, plan: string) {
  if (values.trial && (values.plan ?? plan) !== firstPlan)
    form.fault('trial', `must be false: trials run only on the plan ${firstPlan}.`)
}

/** The validated changes of a body, and a new address. */
export function readAccountChange(
  input: unknown,
  plan: string,
): AccountChange & { email?: string } {
  const values = AccountBody.read(input, (form, partial) =>
    refuseTrialOnPaidPlan(form, partial, plan),
  )
  return camelFields(values)
}

/**
 * The validated new account of a body. Its address counts as confirmed, unless the body sets it
 * otherwise.
 */
export function readNewAccount(
  newAccountBody: ReturnType<typeof createNewAccountBody>,
  input: unknown,
): NewAccount {
  const values = newAccountBody.read(input, (form, partial) =>
    refuseTrialOnPaidPlan(form, partial, firstPlan),
  )
  return { emailConfirmed: true, ...camelFields(values), email: values.email }
}
