//! A person at the approval page: a browser without scripts, that keeps cookies and sends forms as they are.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use reqwest::header::{COOKIE, HeaderMap, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Url};

/// How many redirects are followed in a row.
const REDIRECTS: u32 = 10;

/// Why a visit did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum VisitError {
    /// A page could not be had.
    #[error("the page does not answer: {0}")]
    Request(#[from] reqwest::Error),
    /// An address that is none.
    #[error("`{0}` is no address")]
    Address(String),
    /// A page without the form that was looked for.
    #[error("the page at {0} has no form that leads to `{1}`")]
    NoForm(Url, String),
    /// Redirects without an end.
    #[error("the page redirects without an end")]
    Endless,
}

/// Somebody with a browser.
pub struct Visitor {
    http: reqwest::Client,
    cookies: Mutex<BTreeMap<String, String>>,
}

/// An answer as a browser has it.
#[derive(Debug, Clone)]
pub struct Page {
    /// Where it was found.
    pub url: Url,
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its text.
    pub body: String,
}

/// A form's fields: name and value.
pub type Fields = Vec<(String, String)>;

impl Visitor {
    /// A browser without cookies.
    ///
    /// # Errors
    /// When there can be no HTTP client.
    pub fn new() -> Result<Self, VisitError> {
        let http = reqwest::Client::builder().redirect(Policy::none()).no_proxy().build()?;
        Ok(Self { http, cookies: Mutex::default() })
    }

    /// The cookies.
    #[must_use]
    pub fn cookies(&self) -> BTreeMap<String, String> {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets a cookie, whatever was there before.
    pub fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.to_owned());
    }

    /// A request as the browser makes it, to be changed before it is sent with [`Visitor::send`].
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let cookies = self.cookies().into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        let request = self.http.request(method, url);
        if cookies.is_empty() { request } else { request.header(COOKIE, cookies.join("; ")) }
    }

    /// Sends one request, takes its cookies and follows nothing.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn send(&self, request: RequestBuilder) -> Result<Page, VisitError> {
        let response = request.send().await?;
        let (url, status, headers) = (response.url().clone(), response.status().as_u16(), response.headers().clone());
        for cookie in headers.get_all(SET_COOKIE) {
            self.take(cookie.to_str().unwrap_or_default());
        }
        Ok(Page { url, status, headers, body: response.text().await? })
    }

    /// Opens an address and follows its redirects.
    ///
    /// # Errors
    /// When there is no answer, or no end.
    pub async fn open(&self, url: &str) -> Result<Page, VisitError> {
        let url = Url::parse(url).map_err(|_| VisitError::Address(url.to_owned()))?;
        let page = self.send(self.request(Method::GET, url)).await?;
        self.follow(page).await
    }

    /// Sends a form of a page, with `more` fields as if they were filled in, and follows where it leads.
    ///
    /// # Errors
    /// When the page has no form whose action ends so, or there is no answer.
    pub async fn submit(&self, page: &Page, action: &str, more: &[(&str, &str)]) -> Result<Page, VisitError> {
        let (action, mut fields) =
            page.form(action).ok_or_else(|| VisitError::NoForm(page.url.clone(), action.to_owned()))?;
        fields.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let url = page.url.join(&action).map_err(|_| VisitError::Address(action))?;
        let origin = page.url.origin().ascii_serialization();
        let answer = self.send(self.request(Method::POST, url).header(ORIGIN, origin).form(&fields)).await?;
        self.follow(answer).await
    }

    /// Signs in as a persona, from wherever `url` leads to the issuer's page, and comes back from there.
    ///
    /// # Errors
    /// When there is no sign-in on the way, or no answer.
    pub async fn sign_in(&self, url: &str, persona: &str) -> Result<Page, VisitError> {
        let asked = self.open(url).await?;
        self.submit(&asked, "/authorize", &[("persona", persona)]).await
    }

    /// Goes where an answer leads.
    ///
    /// # Errors
    /// When there is no answer, or no end.
    pub async fn follow(&self, mut page: Page) -> Result<Page, VisitError> {
        for _ in 0..REDIRECTS {
            let Some(to) = page.location() else { return Ok(page) };
            let url = page.url.join(&to).map_err(|_| VisitError::Address(to))?;
            page = self.send(self.request(Method::GET, url)).await?;
        }
        Err(VisitError::Endless)
    }

    fn take(&self, cookie: &str) {
        let mut parts = cookie.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        let gone = parts.any(|part| part.eq_ignore_ascii_case("max-age=0"));
        let mut cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        match gone {
            true => drop(cookies.remove(name)),
            false => drop(cookies.insert(name.to_owned(), value.to_owned())),
        }
    }
}

impl Page {
    /// Where it leads, if anywhere.
    #[must_use]
    pub fn location(&self) -> Option<String> {
        let redirects = (300..400).contains(&self.status);
        let to = self.headers.get(LOCATION).filter(|_| redirects)?;
        to.to_str().ok().map(str::to_owned)
    }

    /// A form's action and hidden fields: the form whose action ends so.
    #[must_use]
    pub fn form(&self, action: &str) -> Option<(String, Fields)> {
        let forms = self.body.split("<form ").skip(1).map(|form| form.split("</form>").next().unwrap_or_default());
        let form = forms.into_iter().find(|form| attribute(form, "action").is_some_and(|it| it.ends_with(action)))?;
        let inputs =
            form.split("<input ").skip(1).filter(|input| attribute(input, "type").as_deref() == Some("hidden"));
        let fields = inputs.filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?)));
        Some((attribute(form, "action")?, fields.collect()))
    }

    /// The value of the first element with this name, such as a box to tick.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<String> {
        let input =
            self.body.split("<input ").skip(1).find(|input| attribute(input, "name").as_deref() == Some(name))?;
        attribute(input, "value")
    }
}

/// An attribute of the tag that the text begins within.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let tag = tag.split('>').next()?;
    let value = format!(" {tag}").split(&format!(" {name}=\"")).nth(1)?.split('"').next()?.to_owned();
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    Some(entities.into_iter().fold(value, |text, (entity, letter)| text.replace(entity, letter)))
}
