import { useLocation } from 'preact-iso'
import { Button } from '../parts/buttons.tsx'
import { navigation, type Place, places } from '../parts/frame/navigation.ts'
import { openSearch } from '../parts/frame/search.tsx'
import { Page } from '../parts/page.tsx'
import { boot } from '../parts/requests/boot.ts'
import { best, match } from '../parts/requests/codes.ts'

/** Pages whose names or words are near to an address that leads nowhere. */
function nearTo(path: string) {
  const typed = path.split('/').filter(Boolean).at(-1) ?? ''
  const pages = navigation().map(page => ({ ...page, words: '', of: '' }))
  const scoreOf = ({ text, of, words }: Place) => match(`${text} ${of} ${words}`, typed)
  return best([...pages, ...places()], scoreOf, 3).map(({ href, text, of }) => ({
    href,
    text: of === '' || of === text ? text : `${of}: ${text}`,
  }))
}

/** The page for an unknown address. */
export function Missing() {
  const { path } = useLocation()
  const near = nearTo(path)
  return (
    <Page title="Page not found">
      <section class="card" aria-label="Suggested pages">
        <p class="break">
          No page exists at <code>{path}</code>.
        </p>
        {near.length > 0 && (
          <p>
            Did you mean{' '}
            {near.map(({ href, text }, i) => (
              <>
                {i > 0 && ', '}
                <a href={href}>{text}</a>
              </>
            ))}
            ?
          </p>
        )}
        <p class="row">
          <a class="button main" href={boot.isSignedIn ? '/market' : '/'}>
            {boot.isSignedIn ? 'Open market' : 'Home'}
          </a>
          <Button label="Search" onClick={openSearch} />
          <a href="/docs">Documentation</a>
        </p>
      </section>
    </Page>
  )
}
