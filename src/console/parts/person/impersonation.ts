/** The read-only impersonation of an account in this tab. */
export interface Impersonation {
  id: string
  account_id: string
  email: string | null
  token: string
  expires_at: string
}

const kept = 'look'

const read = (): Impersonation | undefined => {
  const text = sessionStorage.getItem(kept)
  return text === null ? undefined : (JSON.parse(text) as Impersonation)
}

/** Kept in this tab until it ends; the service ends it by itself at `expires_at`. */
export const impersonation: Impersonation | undefined = read()

/** From now on, every page of this tab is read as the account. */
export function beginImpersonation(begun: Impersonation): void {
  sessionStorage.setItem(kept, JSON.stringify(begun))
  location.assign('/board')
}

export function endLook(): void {
  sessionStorage.removeItem(kept)
  location.assign('/operator/people')
}
