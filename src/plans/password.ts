const charactersMin = 10
/** Far above usual lengths, and short enough to hash quickly. */
const charactersMax = 200
const distinctMin = 5
const restMin = 5

/** Parts that are common in passwords. */
const easyParts = [
  '0123456789',
  '1234567890',
  '123456789',
  '12345678',
  '123456',
  'abcdefghij',
  'abcdef',
  'qwertyuiop',
  'qwertz',
  'qwerty',
  'password',
]

/** The form in which a password is hashed: the same whichever keyboard it was typed on. */
export const passwordForm = (password: string): string => password.normalize('NFKC')

/**
 * The fault of a password for the account of an address, as the end of a sentence; undefined where
 * it is acceptable.
 */
export function passwordFault(password: string, email: string): string | undefined {
  const text = passwordForm(password)
  const characters = [...text]
  if (characters.length < charactersMin) return `must be at least ${charactersMin} characters long.`
  if (characters.length > charactersMax) return `must be at most ${charactersMax} characters long.`
  if (new Set(characters).size < distinctMin)
    return `must have at least ${distinctMin} different characters.`
  const [local = ''] = email.toLowerCase().split('@')
  const guessable = [email.toLowerCase(), ...(local.length > 2 ? [local] : []), ...easyParts]
  const rest = guessable.reduce((left, part) => left.replaceAll(part, ''), text.toLowerCase())
  return rest.length < restMin
    ? 'is too easy to guess: it is little more than your address or a common beginning.'
    : undefined
}
