/** Answers to the shape of the services', written for the tests: no live service was asked. */

const redirect = (url: string): string => `//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=0123abc`;

function result({ href, title, snippet, extra = '', classes = 'results_links results_links_deep web-result' }: { href: string; title: string; snippet: string; extra?: string; classes?: string }): string {
  return `<div class="result ${classes} ">
  <div class="links_main links_deep result__body">
    <h2 class="result__title"><a rel="nofollow" class="result__a" href="${href}">${title}</a></h2>
    <div class="result__extras"><div class="result__extras__url"><span class="result__icon"><img src="//external-content.duckduckgo.com/ip3/x.ico"/></span>
      <a class="result__url" href="${href}"> example.org/x </a> ${extra}</div></div>
    <a class="result__snippet" href="${href}">${snippet}</a>
    <div class="clear"></div>
  </div>
</div>`;
}

export const duckPage = `<!DOCTYPE html><html><head><title>x at DuckDuckGo</title></head><body class="body--html"><div id="links" class="results">
${result({ classes: 'results_links results_links_deep result--ad', href: 'https://duckduckgo.com/y.js?ad_domain=shop.example&amp;ad_provider=bingv7aa', title: 'Buy now', snippet: 'An advertisement' })}
${result({ href: redirect('https://example.org/a?b=1&c=ü'), title: 'Caf&eacute; &amp; <b>Tea</b>', snippet: 'One <b>word</b>\n   &lt;script&gt; \u202edesrever\u202c \u001b[31mred', extra: '<span>&nbsp; &nbsp; 2026-03-04T00:00:00.0000000</span>' })}
${result({ href: 'https://sub.example.org/plain', title: 'Plain link', snippet: '' })}
${result({ href: redirect('javascript:alert(1)'), title: 'No page', snippet: 'x' })}
${result({ href: redirect('https://duckduckgo.com/y.js?ad_domain=x'), title: 'Hidden advertisement', snippet: 'x' })}
${result({ href: redirect('https://example.org/a?b=1&c=ü'), title: 'The same again', snippet: 'x' })}
${result({ href: redirect('https://other.example/'), title: '<p>unclosed <i>tags', snippet: 'Third' })}
</div></body></html>`;

export const duckNothing = '<html><body><div id="links" class="results"><div class="no-results">No results found for <b>qqq</b>.</div></div></body></html>';
export const duckChallenge = '<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js"><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form></body></html>';

export const tavilyAnswer = { query: 'x', results: [{ title: 'T', url: 'https://example.org/t', content: 'About t', score: 0.9, published_date: '2026-01-02T03:04:05Z' }, { title: null, url: 'https://example.org/u', content: null }, { title: 'no address' }] };
export const serpAnswer = { organic_results: [{ position: 1, title: 'S', link: 'https://example.org/s', snippet: 'About s', date: 'Jan 2, 2026' }, { title: 'F', link: 'ftp://example.org/f' }] };
export const braveAnswer = { type: 'search', web: { results: [{ title: 'B &amp; C', url: 'https://example.org/b', description: 'About <strong>b</strong> &#x27;c&#x27;', page_age: '2026-01-02T00:00:00', age: 'January 2, 2026' }] } };
export const searxAnswer = { results: [{ title: 'X', url: 'https://example.org/x', content: 'About x', publishedDate: '2026-01-02T00:00:00' }] };
