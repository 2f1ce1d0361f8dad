import { Component, type ComponentChildren, type ComponentType, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { Home } from './pages/home.tsx'
import { Missing } from './pages/missing.tsx'
import { Frame } from './parts/frame/frame.tsx'
import { later, NotLoaded, ReloadNotice } from './parts/later.tsx'
import { Page } from './parts/page.tsx'
import { type PagePath, pagePaths } from './paths.ts'

/** A page that never loaded has nothing to lose: it reloads by itself once the browser is online. */
function PageNotLoaded() {
  useEffect(() => {
    const reload = () => location.reload()
    addEventListener('online', reload)
    return () => removeEventListener('online', reload)
  }, [])
  return (
    <Page title="Page not loaded">
      <NotLoaded />
    </Page>
  )
}

const page = (load: () => Promise<ComponentType>) => later(load, PageNotLoaded)

type FirstPart<Path> = Path extends `/${infer Name}/${string}`
  ? Name
  : Path extends `/${infer Name}`
    ? Name
    : never

/** What draws each page, by the first part of its address; a page comes when it is first gone to. */
const pages: Record<FirstPart<PagePath>, ComponentType> = {
  '': Home,
  account: page(() => import('./pages/account.tsx').then(({ Account }) => Account)),
  alerts: page(() => import('./pages/alerts.tsx').then(({ Alerts }) => Alerts)),
  board: page(() => import('./pages/board.tsx').then(({ Board }) => Board)),
  commodities: page(() => import('./pages/commodities.tsx').then(({ Commodities }) => Commodities)),
  desk: page(() => import('./pages/desk.tsx').then(({ Desk }) => Desk)),
  docs: page(() => import('./pages/docs.tsx').then(({ Docs }) => Docs)),
  market: page(() => import('./pages/market.tsx').then(({ Market }) => Market)),
  markets: page(() => import('./pages/markets.tsx').then(({ Markets }) => Markets)),
  operator: page(() => import('./pages/operator.tsx').then(({ Operator }) => Operator)),
  series: page(() => import('./pages/series.tsx').then(({ Series }) => Series)),
  signup: page(() => import('./pages/signup.tsx').then(({ Signup }) => Signup)),
  status: page(() => import('./pages/status.tsx').then(({ Status }) => Status)),
  webhooks: page(() => import('./pages/webhooks.tsx').then(({ Webhooks }) => Webhooks)),
}

const componentOf = (path: PagePath): ComponentType =>
  pages[path.split('/')[1] as FirstPart<PagePath>]

const isOurs = new RegExp(
  `^(${pagePaths.map(path => path.replace(/:\w+/g, '[^/]+')).join('|')})([?#].*)?$`,
)

let shownPath = location.pathname

/** A choice on a page, which is in its address too, leaves the page where it is. */
function toTop(): void {
  if (location.pathname !== shownPath) scrollTo(0, 0)
  shownPath = location.pathname
}

interface GuardedPageProps {
  /** After a failure, the next address is tried. */
  url: string
  children: ComponentChildren
}

/** A page that fails while it is drawn would otherwise be drawn again without end. */
class GuardedPage extends Component<GuardedPageProps, { hasFailed: boolean }> {
  static override getDerivedStateFromError = () => ({ hasFailed: true })

  override componentDidCatch(error: unknown): void {
    console.error(error)
  }

  override componentDidUpdate(earlier: GuardedPageProps): void {
    if (this.state.hasFailed && earlier.url !== this.props.url) this.setState({ hasFailed: false })
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <Page title="Page not shown">
        <ReloadNotice>The page failed. If it fails again, please report its address.</ReloadNotice>
      </Page>
    )
  }
}

function Pages() {
  const { url } = useLocation()
  return (
    <GuardedPage url={url}>
      <Router onRouteChange={toTop}>
        {pagePaths.map(path => (
          <Route key={path} path={path} component={componentOf(path)} />
        ))}
        <Route default component={Missing} />
      </Router>
    </GuardedPage>
  )
}

const Console = () => (
  <LocationProvider scope={isOurs}>
    <Frame>
      <ErrorBoundary>
        <Pages />
      </ErrorBoundary>
    </Frame>
  </LocationProvider>
)

render(<Console />, document.getElementById('console')!)
