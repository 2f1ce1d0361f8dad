import { t } from 'elysia'
import { type Form, formBody, formOf } from '../../http/input/form.ts'
import { firstPlan, isPlanId } from '../../plan/plans.ts'
import { type AddOnId, addOnIds, type PlanId, planIds } from '../../plan/tiers.ts'
import type { AccountChange, NewAccount } from '../../service/keys/key-changes.ts'
import { keyNameOf } from '../keys/form.ts'

export const emailMax = 254

const changeFields = {
  plan: t.Optional(t.Union(planIds.map(id => t.Literal(id)))),
  add_ons: t.Optional(
    t.Array(t.Union(addOnIds.map(id => t.Literal(id))), {
      description: 'All add-ons the account is to have.',
    }),
  ),
  trial: t.Optional(
    t.Boolean({
      description: 'True starts a trial now, false ends the running one. Free plan only.',
    }),
  ),
  suspended: t.Optional(
    t.Boolean({ description: 'Every key of a suspended account is answered 403.' }),
  ),
  email_confirmed: t.Optional(
    t.Boolean({ description: 'Until it is, the free quota holds whatever the plan.' }),
  ),
}

/** What may be changed of an account. */
export const accountBody = formBody(t.Object(changeFields))

/** A new account. */
export const newAccountBody = (nameMax: number) =>
  formBody(
    t.Object({
      ...changeFields,
      email: t.String({ maxLength: emailMax, examples: ['person@example.com'] }),
      key_name: t.Optional(
        t.Union([t.String({ maxLength: nameMax }), t.Null()], {
          description: 'Name of the first key.',
        }),
      ),
    }),
  )

/** What a body says of an account; `plan` is the one it is on where the body names none. */
function changeOf(form: Form, plan: string): AccountChange {
  const wanted = form.text('plan', 40)
  if (wanted !== undefined && !isPlanId(wanted))
    form.fault('plan', `must be one of ${planIds.join(', ')}.`)
  const addOns = form.list<AddOnId>(
    'add_ons',
    `add-ons: ${addOnIds.join(', ')}`,
    addOnIds.length,
    text => addOnIds.find(id => id === text),
  )
  const trial = form.flag('trial')
  if (trial && (wanted ?? plan) !== firstPlan)
    form.fault('trial', `can only run on the plan ${firstPlan}.`)
  const suspended = form.flag('suspended')
  const emailConfirmed = form.flag('email_confirmed')
  return {
    ...(wanted !== undefined && { plan: wanted as PlanId }),
    ...(addOns && { addOns }),
    ...(trial !== undefined && { trial }),
    ...(suspended !== undefined && { suspended }),
    ...(emailConfirmed !== undefined && { emailConfirmed }),
  }
}

/** The changes that a body asks for, checked. */
export function accountChangeOf(body: unknown, plan: string): AccountChange {
  const form = formOf(body)
  const change = changeOf(form, plan)
  form.check()
  return change
}

/**
 * Spaces and control characters never stand in an address; everything else is the mail server's to
 * judge.
 */
export const emailPattern = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u

/**
 * The account that a body asks for, checked. An operator who makes one vouches for its address,
 * unless the body says otherwise.
 */
export function newAccountOf(body: unknown, nameMax: number): NewAccount {
  const form = formOf(body)
  const email = form.text('email', emailMax)
  if (!form.has('email')) form.fault('email', 'is required.')
  else if (email !== undefined && !emailPattern.test(email))
    form.fault('email', 'must be an e-mail address.')
  const keyName = keyNameOf(form, 'key_name', nameMax)
  const change = changeOf(form, firstPlan)
  form.check()
  return {
    emailConfirmed: true,
    ...change,
    email: email ?? '',
    ...(keyName !== undefined && { keyName }),
  }
}
