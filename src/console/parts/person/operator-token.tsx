import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Refused, signInHref } from '../bits.tsx'
import { Input, Submit } from '../fields.tsx'
import { Page } from '../page.tsx'
import {
  type AskOptions,
  ask,
  type Loaded,
  Refusal,
  useChange,
  useLoaded,
} from '../requests/ask.ts'
import { boot } from '../requests/boot.ts'
import { usePages } from '../requests/pages.ts'
import { submits } from '../text/form.ts'

const kept = 'operator'

/** The operator's token, for this tab only. */
export const token = signal<string | undefined>(sessionStorage.getItem(kept) ?? undefined)

/** Whether this tab is the operator’s, by the token or the sign-in. */
export const mayOperate = (): boolean => token.value !== undefined || boot.isOperator

const refusal = signal<Error | undefined>(undefined)

export async function asOperator<T>(
  path: string,
  options: Omit<AskOptions, 'token'> = {},
): Promise<T> {
  const sent = token.value
  // Without a token the operator's session is used, or the service refuses the request.
  return await ask<T>(path, { ...options, token: sent ?? null }).catch(error => {
    if (sent !== undefined && error instanceof Refusal && error.status === 401) {
      // A token that was replaced: the page asks for the new one, instead of each of its parts.
      forget()
      refusal.value = new Error('The admin token is not valid any more. Enter the new one.')
    }
    throw error
  })
}

async function take(text: string): Promise<void> {
  try {
    await ask('/admin/v1/quarantine', { token: text })
    sessionStorage.setItem(kept, text)
    token.value = text
    refusal.value = undefined
  } catch (error) {
    refusal.value = error as Error
  }
}

export function forget(): void {
  sessionStorage.removeItem(kept)
  token.value = undefined
}

/** Wraps pages of the operator: requests the token once per tab. */
export function Operators({
  title,
  children,
}: {
  title: string
  children: () => ComponentChildren
}) {
  if (mayOperate()) return <>{children()}</>
  return (
    <Page title={title} about="For the operator of this instance.">
      <form
        class="card"
        onSubmit={submits(form => {
          const field = form.elements.namedItem('token') as HTMLInputElement
          void take(field.value.trim())
        })}
      >
        <Input label="Admin token" name="token" type="password" autocomplete="off" required />
        <p class="quiet small">
          It was shown at the first start, and <code>wellhead token rotate</code> creates a new one.
          This tab keeps it until you close it. An operator can also{' '}
          <a href={signInHref()}>sign in</a>.
        </p>
        {refusal.value && <Refused error={refusal.value} />}
        <div class="row">
          <Submit>Open</Submit>
        </div>
      </form>
    </Page>
  )
}

/** Loads a paged list as the operator; `field` has its rows. */
export const useOperatorPages = <T,>(path: string, field: string) =>
  usePages<T>(path, field, asOperator)

/** Changes as the operator what a page shows. */
export const useOperatorChange = (shown: Pick<Loaded<unknown>, 'reload'>) =>
  useChange(shown, asOperator)

/** Loads a response as the operator. */
export const useOperator = <T,>(path: string | undefined): Loaded<T> =>
  useLoaded(path, signal => asOperator<T>(path!, { signal }))
