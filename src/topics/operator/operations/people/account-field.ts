import { t } from 'elysia'
import { field } from '../../../../http/input/body-schema.ts'
import { emailMax } from '../../../account/operations/account-form.ts'
import type { AccountState, Keyring } from '../../../keys/service/keyring.ts'

/** An account, named by its id or its address. */
export const accountField = (keys: Keyring) =>
  field<AccountState>(
    t.String({
      maxLength: emailMax,
      description: 'Id or e-mail address of the account.',
      examples: ['eval@example.com'],
    }),
    (form, name) => {
      const idOrEmail = form.text(name, emailMax)
      if (idOrEmail === undefined) return undefined
      return (
        keys.account(idOrEmail) ??
        keys.accountByEmail(idOrEmail) ??
        form.fault(name, 'must be the id or e-mail address of an account.')
      )
    },
  )
