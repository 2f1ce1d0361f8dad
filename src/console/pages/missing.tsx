import { useLocation } from 'preact-iso'
import { Button } from '../parts/buttons.tsx'
import { navigation, places } from '../parts/frame/navigation.ts'
import { openSearch } from '../parts/frame/search.tsx'
import { Page } from '../parts/page.tsx'
import { boot } from '../parts/requests/boot.ts'
import { match } from '../parts/requests/codes.ts'

/** Pages whose names or words are near to an address that leads nowhere. */
function nearTo(path: string) {
  const typed = path.split('/').filter(Boolean).at(-1) ?? ''
  const pages = navigation().map(page => ({ ...page, words: '', of: '' }))
  return [...pages, ...places()]
    .map(({ href, text, of, words }) => ({
      href,
      text: of === '' || of === text ? text : `${of}: ${text}`,
      score: match(`${text} ${of} ${words}`, typed),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
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
