// Whether a host is an address and no name. As `isIP` of `node:net` has it, which brings streams along: milliseconds of
// every start.

const v4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** What URLs take as well. */
const endsInMidAir = /(?<!:):$/;

export const isAddress = (host: string): boolean =>
  host.includes(":") ? !endsInMidAir.test(host) && URL.canParse(`http://[${host}]`) : v4.test(host);
