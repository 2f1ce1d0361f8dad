import { t } from '../../../../http/answer/schema.ts'
import { field } from '../../../../http/input/body-schema.ts'
import { emailMax } from '../../../account/operations/account-form.ts'
import type { AccountState, Keyring } from '../../../keys/service/keyring.ts'

/** An account, named by its id or its address. */
export const accountField = (keys: Keyring) =>
  field<AccountState>(
    t.string('Id or e-mail address of the account.', 'eval@example.com', { maxLength: emailMax }),
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
