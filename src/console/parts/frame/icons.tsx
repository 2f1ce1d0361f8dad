import {
  Bell,
  BookOpen,
  ChartCandlestick,
  ChartLine,
  CircleUser,
  FlaskConical,
  Fuel,
  Gauge,
  House,
  LayoutDashboard,
  ListOrdered,
  type LucideIcon,
  Server,
  Webhook,
} from 'lucide-preact'

const icons = {
  home: House,
  market: LayoutDashboard,
  board: ListOrdered,
  series: ChartLine,
  markets: ChartCandlestick,
  commodities: Fuel,
  alerts: Bell,
  webhooks: Webhook,
  account: CircleUser,
  operator: Server,
  desk: FlaskConical,
  docs: BookOpen,
  status: Gauge,
} satisfies Record<string, LucideIcon>

export type IconName = keyof typeof icons

export function Icon({ name }: { name: IconName }) {
  const Drawn = icons[name]
  return <Drawn size={18} strokeWidth={1.75} aria-hidden="true" />
}
