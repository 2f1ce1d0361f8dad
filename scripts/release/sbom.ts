import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import manifest from '../../package.json'
import { carriedPackages, engineParts } from '../notices.ts'

/** The components of the binary as CycloneDX 1.6: its packages and the bundled runtime. */
export function sbom(): string {
  const main = new Models.Component(Enums.ComponentType.Application, manifest.name, {
    version: manifest.version,
    bomRef: `${manifest.name}@${manifest.version}`,
  })
  main.licenses.add(new Models.SpdxLicense(manifest.license))
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: main }) })
  const packages = carriedPackages().map(part => ({
    ...part,
    purl: `pkg:npm/${part.name.replace('@', '%40')}@${part.version}`,
  }))
  for (const { name, version, license, purl } of [...packages, ...engineParts()]) {
    const [scope, bare] = name.startsWith('@') ? name.split('/') : [undefined, name]
    const component = new Models.Component(Enums.ComponentType.Library, bare!, {
      ...(scope !== undefined && { group: scope }),
      version,
      bomRef: `${name}@${version}`,
      purl,
    })
    if (license !== undefined) component.licenses.add(licenceOf(license))
    bom.components.add(component)
    main.dependencies.add(component.bomRef)
  }
  const serializer = new Serialize.JsonSerializer(
    new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6),
  )
  return serializer.serialize(bom, { sortLists: true, space: 2 })
}

/** `MIT`, or an expression such as `(MIT OR Apache-2.0)`. */
const licenceOf = (text: string) =>
  /[ (]/.test(text) ? new Models.LicenseExpression(text) : new Models.NamedLicense(text)
