import type { Command } from 'commander'

/** The commands by what they are for, in the order of the help. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Server commands:': [
    'serve',
    'dev',
    'setup',
    'healthcheck',
    'doctor',
    'config',
    'openapi',
    'profiles',
  ],
  'Data commands:': [
    'import',
    'export',
    'codes',
    'series',
    'datasets',
    'feeds',
    'sources',
    'batches',
    'values',
    'review',
    'quarantine',
  ],
  'Account commands:': [
    'accounts',
    'keys',
    'plans',
    'subscriptions',
    'invoices',
    'alerts',
    'webhooks',
    'deliveries',
    'token',
    'audit',
  ],
  'Backup and replication commands:': [
    'backup',
    'verify',
    'restore',
    'migrate',
    'promote',
    'outbox',
  ],
  'Message commands:': ['mail', 'notices'],
  'Client commands:': [
    'login',
    'servers',
    'get',
    'history',
    'curve',
    'chart',
    'watch',
    'sync',
    'alert',
    'mcp',
  ],
}

/** Lists the commands of the help in groups; the others are listed last. */
export function groupCommands(program: Command): void {
  for (const [heading, names] of Object.entries(groups))
    for (const name of names)
      program.commands.find(command => command.name() === name)?.helpGroup(heading)
}
